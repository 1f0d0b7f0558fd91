"""Pure: notifications, an optional extra: message cards about runs and batches, and the channels that send them."""
