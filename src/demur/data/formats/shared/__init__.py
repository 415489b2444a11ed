"""What several formats share: lines, columns, rows, and checks that name the place."""
