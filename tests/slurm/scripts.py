"""The files of a test cluster: its configuration and the programs of its nodes, as text."""

from pathlib import Path

NODES = ("gpu1", "gpu2", "gpu3", "gpu4")
CARDS = 8
GRES_TYPE, CARD_NAME, SLUG = "h200", "NVIDIA H200", "h200-sxm-141"


def slurm_conf(folder: Path, *, controller_port: int, node_ports: dict[str, int]) -> str:
    """Four nodes on one machine, each with a port of its own; the scheduler waits for nothing."""
    nodes = "\n".join(
        f"NodeName={name} NodeAddr=127.0.0.1 Port={port} CPUs=16 RealMemory=4000 Gres=gpu:{GRES_TYPE}:{CARDS} "
        "State=UNKNOWN"
        for name, port in node_ports.items()
    )
    return f"""\
ClusterName=anchor
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=slurm
SlurmctldPort={controller_port}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1
ReturnToService=1
MailProg=/bin/true
GresTypes=gpu
SlurmdParameters=config_overrides
SlurmdTimeout=10
MessageTimeout=3
KillWait=2
ResvOverRun=0
PrivateData=reservations,jobs
HealthCheckProgram={folder}/bin/health
HealthCheckInterval=20
HealthCheckNodeState=ANY
Epilog={folder}/bin/epilog
ResvProlog={folder}/bin/began
ResvEpilog={folder}/bin/ended
{nodes}
PartitionName=lots Nodes={",".join(node_ports)} Default=YES MaxTime=INFINITE State=UP ReqResv=YES
"""


def gres_conf(folder: Path) -> str:
    """A count without a file of its own registers as none."""
    return "".join(
        f"NodeName={name} Name=gpu Type={GRES_TYPE} File={folder}/dev/{name}-card[0-{CARDS - 1}]\n"
        for name in NODES
    )


def sshd_config(folder: Path, *, port: int, accounts: tuple[str, ...]) -> str:
    """The login host: keys come from the shop's folder alone, as docs/slurm.md says."""
    return f"""\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/ssh_host_key
PidFile none
AuthorizedKeysFile none
AuthorizedKeysCommand /usr/bin/cat {folder}/keys/%u
AuthorizedKeysCommandUser nobody
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin no
UsePAM no
AllowUsers {" ".join(accounts)}
SetEnv PATH={folder}/login:/usr/bin:/bin
LogLevel VERBOSE
"""


def serial(node: str, index: int) -> str:
    return f"SN-{node}-{index}"


def card_lines(node: str) -> list[str]:
    """What the driver of a sound node prints."""
    return [f"{index}, {serial(node, index)}, GPU-{node}-{index}, {CARD_NAME}, 0" for index in range(CARDS)]


def programs(folder: Path) -> dict[str, str]:
    """Path below the folder -> script. The nodes are one machine here: each looks at its own list of cards."""
    return {
        # Shows what Slurm has granted to the step that runs it, never more.
        "bin/nvidia-smi": f"""\
#!/bin/sh
cards={folder}/cards/$SLURMD_NODENAME
case "$*" in
    -L) for index in $(echo "$CUDA_VISIBLE_DEVICES" | tr , ' '); do
            awk -F', ' -v i="$index" '$1 == i {{ print "GPU " $1 ": " $4 " (UUID: " $3 ")" }}' "$cards"
        done ;;
    --query-gpu=*) cat "$cards" ;;
    *) exit 2 ;;
esac
""",
        "login/nvidia-smi": f"""\
#!/bin/sh
export SLURM_CONF={folder}/slurm.conf ANCHOR_NVIDIA_SMI={folder}/bin/nvidia-smi
exec {folder}/bin/login-nvidia-smi "$@"
""",
        "bin/health": f"""\
#!/bin/sh
node=${{SLURMD_NODENAME:?}}
export SLURM_CONF={folder}/slurm.conf
exec {folder}/bin/anchor-cards "cat {folder}/cards/$node"
""",
        # Sessions of the account end with its job. What runs in a job is Slurm's own to end; on one machine for four
        # nodes it would be another node's.
        "bin/epilog": f"""\
#!/bin/sh
grep -qx "$SLURM_JOB_UID" {folder}/uids || exit 0
for process in $(pgrep -u "$SLURM_JOB_UID"); do
    grep -qz '^SLURM_JOB_ID=' "/proc/$process/environ" || kill -KILL "$process"
done
exit 0
""",
        # Slurm's words for its hooks of a reservation are kept for the tests; docs/slurm.md has what stands there.
        "bin/began": f"#!/bin/sh\necho began $1 >> {folder}/run/events\n",
        "bin/ended": f"#!/bin/sh\necho ended $1 >> {folder}/run/events\n",
        "bin/wipe": f"""\
#!/bin/sh
[ ! -e {folder}/wipe-fails ] || exit 1
sleep "$(cat {folder}/wipe-seconds 2>/dev/null || echo 0)"
find {folder}/home/"${{1:?}}" -mindepth 1 -delete 2>/dev/null
echo "$SLURMD_NODENAME $1" >> {folder}/wiped
""",
    }
