package secrets_test

import "time"

var noon = time.Date(2024, 6, 3, 12, 0, 0, 0, time.UTC)
