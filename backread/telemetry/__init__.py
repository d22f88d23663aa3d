"""What a running server tells of itself: traces and figures, and never what anybody wrote."""
