from enum import StrEnum


class LanguageEnum(StrEnum):
    DE = "de"
    EN = "en"
    FR = "fr"
    RU = "ru"

    def __str__(self) -> str:
        return str(self.value)
