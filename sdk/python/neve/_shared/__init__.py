"""What both faces share: nothing in here waits for anything."""
