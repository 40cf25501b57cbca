package serving

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
)

// A host that slept through the end of quiet hours goes on when it is awake. It prevents: an
// agent's mail waits for as many hours more as the machine slept, because the pause of a program
// stands still meanwhile.
func TestQuietHoursEndWhileTheHostSleeps(t *testing.T) {
	synctest.Test(t, testQuietHoursEndWhileTheHostSleeps)
}

func testQuietHoursEndWhileTheHostSleeps(t *testing.T) {
	begun := time.Date(2026, 5, 23, 22, 0, 0, 0, time.Local)
	awake, slept := time.Now(), time.Duration(0)
	now := func() time.Time { return begun.Add(time.Since(awake) + slept) }
	q := newQueue(&tools{Options: &Options{Now: now}}, nil, fleet.Who{}, configs.Agent{Quiet: configs.QuietHours{{From: 22 * 60, To: 7 * 60}}})
	if !q.isQuiet() {
		t.Fatalf("%s is not in quiet hours", now())
	}
	slept = 9*time.Hour + time.Minute
	time.Sleep(time.Minute)
	synctest.Wait()
	select {
	case <-q.wake:
	default:
		t.Error("nobody looks again a minute after the host slept past their end")
	}
	if q.isQuiet() {
		t.Errorf("%s is in quiet hours", now())
	}
}

// While it is quiet there is one look at a time, however often somebody asks.
func TestQuietHoursAreLookedAtOnceAMinute(t *testing.T) {
	synctest.Test(t, testQuietHoursAreLookedAtOnceAMinute)
}

func testQuietHoursAreLookedAtOnceAMinute(t *testing.T) {
	begun := time.Date(2026, 5, 23, 6, 57, 30, 0, time.Local)
	awake := time.Now()
	now := func() time.Time { return begun.Add(time.Since(awake)) }
	q := newQueue(&tools{Options: &Options{Now: now}}, nil, fleet.Who{}, configs.Agent{Quiet: configs.QuietHours{{From: 22 * 60, To: 7 * 60}}})
	looks := 0
	for q.isQuiet() {
		q.isQuiet()
		<-q.wake
		looks++
		synctest.Wait()
		if len(q.wake) > 0 {
			t.Fatal("two looks for one pause")
		}
	}
	if at := now(); looks != 3 || !at.Equal(begun.Add(150*time.Second)) {
		t.Errorf("after %d looks it is %s", looks, at)
	}
}
