package secrets

import "github.com/parleyfleet/parley/internal/pattern"

// rule is a form of secrets. A text is searched for its prefixes first, which takes far less time
// than its form.
type rule struct {
	kind     string
	prefixes []string
	form     pattern.Pattern // from the prefix on
}

func of(kind, form string, prefixes ...string) rule {
	return rule{kind, prefixes, pattern.New(`^(?:` + form + `)`)}
}

// rules are the forms as the providers document them, and as the rules of gitleaks
// (github.com/gitleaks/gitleaks, config/gitleaks.toml) and GitHub's list of secret scanning patterns
// know them. Forms without a prefix of their own are left out: they cannot be told from other words.
var rules = []rule{
	of("private key", `-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----\s*(?:[\w-]+: [^\n]*\n)*[\sA-Za-z0-9+/=\\]{64,}(?:-----END [A-Z0-9 ]*-----)?`, "-----BEGIN "),
	of("age key", `AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}`, "AGE-SECRET-KEY-1"),
	of("parley token", `eyJhIjoi[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{20,}`, "eyJhIjoi"),
	of("invitation line", `parley://[^\s/#]+/#[A-Za-z0-9_-]{100,}`, "parley://"),
	of("NATS seed", `S[ACNOUX][A-Z2-7]{56}\b`, "SA", "SC", "SN", "SO", "SU", "SX"),

	of("GitHub token", `gh[pousr]_[A-Za-z0-9]{36,251}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	of("GitHub token", `github_pat_[A-Za-z0-9_]{60,}`, "github_pat_"),
	of("GitLab token", `gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat)-[A-Za-z0-9_.-]{20,}`,
		"glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-"),
	of("Bitbucket token", `AT(?:CTT|ATT|BB)[A-Za-z0-9_=-]{24,}`, "ATCTT3", "ATATT3", "ATBB"),

	of("AWS access key", `(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`, "AKIA", "ASIA", "ABIA", "ACCA"),
	of("Google API key", `AIza[A-Za-z0-9_-]{35}`, "AIza"),
	of("Google token", `(?:GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{40,})`, "GOCSPX-", "ya29."),
	of("Azure key", `(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{43,86}={1,2}`, "AccountKey=", "SharedAccessKey="),
	of("DigitalOcean token", `do[opr]_v1_[a-f0-9]{64}`, "dop_v1_", "doo_v1_", "dor_v1_"),
	of("Alibaba key", `LTAI[A-Za-z0-9]{20}\b`, "LTAI"),
	of("Fly.io token", `(?:fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{100,}={0,3})`, "fo1_", "fm1r_", "fm1a_", "fm2_"),
	of("Cloudflare key", `v1\.0-[a-f0-9]{24}-[a-f0-9]{146}`, "v1.0-"),
	of("Heroku key", `HRKU-[A-Za-z0-9_-]{36,}`, "HRKU-"),
	of("Databricks token", `dapi[a-f0-9]{32}(?:-\d)?\b`, "dapi"),
	of("Vault token", `(?:hv[sb]|s)\.[A-Za-z0-9_-]{90,}`, "hvs.", "hvb."),
	of("Terraform token", `\.atlasv1\.[A-Za-z0-9=_-]{60,}`, ".atlasv1."),
	of("Doppler token", `dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.-]{40,}`, "dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
	of("Pulumi token", `pul-[a-f0-9]{40}\b`, "pul-"),
	of("1Password token", `ops_eyJ[A-Za-z0-9+/=_-]{200,}`, "ops_eyJ"),
	of("Tailscale key", `tskey-[a-z]+-[A-Za-z0-9]{6,}-[A-Za-z0-9]{20,}`, "tskey-"),

	of("Anthropic key", `sk-ant-[a-z0-9]+-[A-Za-z0-9_-]{40,}`, "sk-ant-"),
	of("OpenAI key", `sk-(?:(?:proj|svcacct|admin|None)-)?[A-Za-z0-9_-]{16,}T3BlbkFJ[A-Za-z0-9_-]{16,}|sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{58,}`, "sk-"),
	of("OpenRouter key", `sk-or-v1-[a-f0-9]{64}`, "sk-or-v1-"),
	of("Hugging Face token", `(?:hf|api_org)_[A-Za-z]{34}\b`, "hf_", "api_org_"),
	of("Groq key", `gsk_[A-Za-z0-9]{52}\b`, "gsk_"),
	of("xAI key", `xai-[A-Za-z0-9]{70,}`, "xai-"),
	of("Perplexity key", `pplx-[A-Za-z0-9]{48}\b`, "pplx-"),
	of("Replicate token", `r8_[A-Za-z0-9]{37}\b`, "r8_"),

	of("Slack token", `xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{20,}`, "xoxa", "xoxb", "xoxe", "xoxo", "xoxp", "xoxr", "xoxs"),
	of("Slack token", `xapp-\d-[A-Z0-9]+-\d+-[a-z0-9]{32,}`, "xapp-"),
	of("Slack webhook", `hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,}`, "hooks.slack.com/"),
	of("Discord webhook", `discord(?:app)?\.com/api/webhooks/\d{17,20}/[A-Za-z0-9_-]{60,}`, "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
	of("Telegram token", `:AA[A-Za-z0-9_-]{33}\b`, ":AA"),
	of("Twilio key", `SK[a-f0-9]{32}\b`, "SK"),
	of("SendGrid key", `SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`, "SG."),
	of("Mailgun key", `key-[a-f0-9]{32}\b`, "key-"),

	of("Stripe key", `(?:sk|rk)_(?:live|prod|test)_[A-Za-z0-9]{20,}|whsec_[A-Za-z0-9+/=]{32,}`, "sk_live_", "sk_prod_", "sk_test_", "rk_live_", "rk_prod_", "rk_test_", "whsec_"),
	of("Square token", `(?:sq0atp-[A-Za-z0-9_-]{22}|sq0csp-[A-Za-z0-9_-]{43}|EAAA[A-Za-z0-9_-]{60})`, "sq0atp-", "sq0csp-", "EAAA"),
	of("Shopify token", `shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}`, "shpat_", "shpca_", "shppa_", "shpss_"),

	of("npm token", `npm_[A-Za-z0-9]{36}\b`, "npm_"),
	of("PyPI token", `pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,}`, "pypi-AgEIcHlwaS5vcmc"),
	of("RubyGems key", `rubygems_[a-f0-9]{48}\b`, "rubygems_"),
	of("Docker token", `dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}`, "dckr_pat_", "dckr_oat_"),
	of("Linear key", `lin_(?:api|oauth)_[A-Za-z0-9]{40,}`, "lin_api_", "lin_oauth_"),
	of("Notion token", `ntn_[0-9]{11}[A-Za-z0-9]{35}\b`, "ntn_"),
	of("Postman key", `PMAK-[a-f0-9]{24}-[a-f0-9]{34}`, "PMAK-"),
	of("Grafana token", `gl(?:sa_[A-Za-z0-9]{32}_[a-f0-9]{8}|c_eyJ[A-Za-z0-9+/=]{32,})`, "glsa_", "glc_eyJ"),
	of("Sentry token", `sntrys_eyJ[A-Za-z0-9+/=_]{80,}|sntryu_[a-f0-9]{64}`, "sntrys_eyJ", "sntryu_"),
	of("New Relic key", `NRAK-[A-Z0-9]{27}\b`, "NRAK-"),
	of("Dynatrace token", `dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}`, "dt0c01."),
	of("Figma token", `figd_[A-Za-z0-9_-]{40,}`, "figd_"),
	of("PlanetScale token", `pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}`, "pscale_"),
	of("Supabase key", `sb(?:p_[a-f0-9]{40}|_secret_[A-Za-z0-9_-]{31,})`, "sbp_", "sb_secret_"),
}
