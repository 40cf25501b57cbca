// Package notebook writes files about topics and parties for the agents that take part in them:
// what was agreed, and who is a member. It writes them to ψ/memory/collaborations of each agent of
// this host that has a folder. People and other programs read them. The files are only views: what
// holds is in the record, and they are never read back. What a person wrote into them stays (R29).
package notebook
