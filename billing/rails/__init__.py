"""Ways by which money arrives; alone imports web3 or stripe. Kept empty so that nothing loads early."""
