"""The paper's tables and figures as recipes: functions from a scale to complete settings."""
