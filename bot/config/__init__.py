"""Configuration: the whole in configuration.py, its sections by subject, and Slack's secrets."""

from bot.config.configuration import SECRETS as SECRETS
from bot.config.configuration import SLACK_KEY_SETTING as SLACK_KEY_SETTING
from bot.config.configuration import WEB_KEY_FILE as WEB_KEY_FILE
from bot.config.configuration import WEB_KEY_VARIABLE as WEB_KEY_VARIABLE
from bot.config.configuration import Config as Config
from bot.config.configuration import load_config as load_config
