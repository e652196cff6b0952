"""`test diff`: what two versions, files or collectors put out for the same samples, record by record."""
