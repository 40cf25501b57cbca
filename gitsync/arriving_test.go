package gitsync

import "testing"

// Status says how many messages of others have been told, while they are being told.
func TestStatusCountsWhatArrives(t *testing.T) {
	t.Parallel()
	const count = 3*arrivedBatch + 7
	remote := bareRemote(t)
	a, b := newHome(t, "a", remote), newHome(t, "b", remote)
	var told []Status
	b.tell.events.Arrived = func([]MessageFile) { told = append(told, b.Status()) }
	for n := range count {
		a.append(t, testMessage(1, n))
	}
	a.sync(t)
	b.sync(t)
	if len(told) != 4 {
		t.Fatalf("they were told in %d batches", len(told))
	}
	for i, s := range told {
		if s.Arriving != count || s.Arrived != i*arrivedBatch {
			t.Errorf("batch %d: %d of %d", i, s.Arrived, s.Arriving)
		}
	}
	if s := b.Status(); s.Arriving != 0 || s.Arrived != 0 {
		t.Errorf("afterwards: %d of %d", s.Arrived, s.Arriving)
	}
}
