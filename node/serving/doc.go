// Package serving serves the agents of a host. The doors bring messages to the agents' commands:
// each agent has a queue, and a worker that runs its command within budgets, tries again what
// failed, and makes dead letters of what it gives up. Claims settle with other hosts which of them
// does a piece of work. Attention wakes the programs of agents that ask for their mail, and
// examinations answer checks for agents that are not run for them. The package also answers the
// verbs about all this.
package serving
