package notify

import (
	"context"
	"maps"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
)

// TryAll answers control.TryNotifications.
func (n *Notifier) TryAll(ctx context.Context, _ control.TryNotificationsRequest) ([]control.TriedNotification, error) {
	return each.Of(n.Used(), func(c configs.Notification) control.TriedNotification { return n.tried(ctx, c) }), nil
}

func (n *Notifier) tried(ctx context.Context, c configs.Notification) control.TriedNotification {
	m := Matter{Kind: "test", Text: "parley: this is a test of notifications on " + n.Host.String()}
	return control.TriedNotification{Command: c.Shown(), Problem: n.Try(ctx, c, []Matter{m})}
}

// Change answers control.ChangeNotifications. What config.yaml has then is used from now on, with what
// people have changed there.
func (n *Notifier) Change(ctx context.Context, r control.ChangeNotificationsRequest) (done control.TriedNotification, err error) {
	changed := configs.Notification{Way: r.Add, For: r.For}
	n.changing.Lock()
	defer n.changing.Unlock()
	var list []configs.Notification
	if r.Remove != "" {
		changed, list, err = configs.RemoveNotification(n.Config, r.Remove)
	} else if changed.Quiet, err = quiet(r.Quiet); err == nil {
		list, err = configs.AddNotification(n.Config, changed)
	}
	if err != nil {
		return done, control.Errorf(control.KindUsage, "parley notify --help", "cannot change the notifications: %v", err)
	}
	n.use(list)
	done.Command = changed.Shown()
	if r.Remove == "" {
		done = n.tried(ctx, changed)
	}
	n.Changed()
	return done, nil
}

func quiet(texts []string) (all configs.QuietHours, err error) {
	for _, text := range texts {
		span, err := configs.ParseQuiet(text)
		if err != nil {
			return nil, err
		}
		all = append(all, span)
	}
	return all, nil
}

// use has other commands tell what comes from now on. What waits for one that is gone is dropped.
func (n *Notifier) use(commands []configs.Notification) {
	n.mu.Lock()
	before := n.Commands
	n.Commands = commands
	keys := map[string]bool{}
	for _, c := range commands {
		keys[key(c)] = true
	}
	maps.DeleteFunc(n.waiting, func(k string, _ []Matter) bool { return !keys[k] })
	n.mu.Unlock()
	for _, c := range before {
		n.Wrong("notification "+c.Name(), "") // it is tried anew
	}
	wait.Nudge(n.wake)
}
