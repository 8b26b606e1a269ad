package main

import (
	"fmt"
	"slices"
	"time"
)

// warmUp are the rounds that do not count: caches fill, plans are made.
const warmUp = 3

// race runs the contestants in turns, A B C A B C, and returns the median time of each. Each gets the
// number of the round, so that a round asks all of them the same and the next one something else.
func race(rounds int, contestants ...func(round int) error) ([]time.Duration, error) {
	times := make([][]time.Duration, len(contestants))
	for round := range warmUp + rounds {
		for i, contestant := range contestants {
			begun := time.Now()
			if err := contestant(round); err != nil {
				return nil, fmt.Errorf("contestant %d in round %d: %w", i+1, round+1, err)
			}
			if round >= warmUp {
				times[i] = append(times[i], time.Since(begun))
			}
		}
	}
	medians := make([]time.Duration, len(contestants))
	for i := range times {
		medians[i] = quantile(times[i], 0.5)
	}
	return medians, nil
}

// quantile returns the value under which the share q of the values lies (nearest rank).
func quantile(values []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
