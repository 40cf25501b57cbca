#!/bin/sh
# A scripted agent of inquiries, with two perspectives. It waits, where a file called hold-CALL
# or hold-PERSPECTIVE lies in the folder that $1 names, until that is gone. It fails in an exchange
# while fail-exchange lies there.
asked=$(cat)
say() { printf '```json\n%s\n```\n' "$1"; }
hold() {
	echo run >>"$1/ran-$2"
	while [ -e "$1/hold-$2" ]; do sleep 0.05; done
}
case $asked in
*"infer the mission brief"*)
	hold "$1" brief
	say '{"intent": "which to keep", "deliverable": "a recommendation", "scope": "stores/ only", "mode": "inquire", "why": "two sides", "abstract": false}' ;;
*"gather the context"*)
	hold "$1" context
	say '{"context": "There are two.", "sources": []}' ;;
*"propose perspectives"*)
	hold "$1" proposals
	say '{"perspectives": [{"name": "Cost", "contribution": "what it costs", "tension_with": "Sleep", "referent": "the second store"}, {"name": "Sleep", "contribution": "who gets up", "tension_with": "Cost", "referent": "the second store"}], "reasons": ""}' ;;
*"say which agents fit which perspectives"*) say '{"fits": []}' ;;
*"sum up each result"*)
	hold "$1" preview
	say '{"results": [{"perspective": "Cost", "title": "t", "summary": "s", "limits": "l"}, {"perspective": "Sleep", "title": "t", "summary": "s", "limits": "l"}]}' ;;
*"find where results are in tension"*)
	hold "$1" detection
	say '{"triggers": [{"kind": "contradiction", "peers": ["Cost", "Sleep"], "topic": "which to keep", "why": "", "quotes": [{"perspective": "Cost", "section": "Assessment", "words": "Keep Cost; see stores/2.md."}, {"perspective": "Sleep", "section": "Assessment", "words": "Keep Sleep; see stores/2.md."}]}], "none": ""}' ;;
*"say what came of each dialogue"*)
	hold "$1" outcomes
	say '{"outcomes": [{"tension": "1.1", "resolution": "partial", "strength": "moderate", "basis": "both count nights"}]}' ;;
*"ask one peer one targeted question"*)
	hold "$1" follow-up
	echo 'What is a night worth?' ;;
*"join what the perspectives found"*)
	hold "$1" synthesis
	printf '## Convergence\nBoth count nights.\n\n## Divergence\nWhat a night is worth.\n\n## Integrated Assessment\nCost says: Keep Cost; see stores/2.md.\n\n## Synthesis Basis\nIts result.\n\n'
	say '{"agreements": [{"point": "Both count nights.", "perspectives": ["Cost", "Sleep"], "strength": "moderate"}], "basis": [{"claim": "Cost says: Keep Cost; see stores/2.md.", "kind": "result", "sources": [{"perspective": "Cost", "words": "Keep Cost; see stores/2.md."}]}]}'
	;;
*"word the three ways"*)
	hold "$1" route
	say '{"extend": "Deepen Cost further", "add_input": "What Sleep could not see", "wrap_up": "With Cost, decide"}' ;;
*"show what each perspective gave"*)
	hold "$1" trace
	say '{"rows": [{"perspective": "Cost", "sections": ["Convergence"], "survived": true, "unaddressed": ["Not the nights."]}, {"perspective": "Sleep", "sections": ["Divergence"], "survived": false, "unaddressed": []}]}' ;;
*"This is message"*)
	hold "$1" exchange
	if [ -e "$1/fail-exchange" ]; then echo 'no room' >&2 && exit 3; fi
	printf 'Four nights.\nDONE\n' ;;
*"Report in four sections"*) printf '## Final position\nKeep it.\n## Agreement points\nFour nights.\n## Remaining divergence\nTheir worth.\n## Rationale\nstores/2.md\n' ;;
*"One question more"*) echo 'Three hours; see stores/2.md.' ;;
*"You are an expert in "*)
	p=Sleep
	case $asked in *"You are an expert in Cost."*) p=Cost ;; esac
	hold "$1" "$p"
	printf '## Epistemic Contribution\nAs %s.\n\n## Framework Analysis\nSee stores/2.md.\n\n## Horizon Limits\nNot the nights.\n\n## Assessment\nKeep %s; see stores/2.md.\n' "$p" "$p"
	;;
*) echo 'I have nothing to say to that.' ;;
esac
