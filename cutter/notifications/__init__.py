"""Pure: notifications, which are optional: message cards about runs and batches, and the channels that send cards."""
