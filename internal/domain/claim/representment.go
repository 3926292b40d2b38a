package claim

import (
	"holdfast/internal/domain/civil"
)

// Service is how much of the service of a booking had been provided by a day.
type Service struct {
	Start, End civil.Day // the first and last day of travel
	By         civil.Day
	Days       int64 // of the service
	Provided   int64 // of them
}

// ServiceBy computes how much of a service had been provided by a day, with that day.
func ServiceBy(start, end, by civil.Day) Service {
	if start == civil.NoDay || start > end {
		start = end
	}
	days := int64(end-start) + 1
	return Service{Start: start, End: end, By: by, Days: days, Provided: min(days, max(0, int64(by-start)+1))}
}

// DaysLate is the number of days by which a dispute missed the last day of dispute; 0 if it was in time.
func DaysLate(disputed, last civil.Day) int64 { return max(0, int64(disputed-last)) }
