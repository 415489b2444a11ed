"""Who may ask, how much may be sent, and where files that are sent are kept."""
