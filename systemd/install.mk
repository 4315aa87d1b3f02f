# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# make install DESTDIR= PREFIX=: the programs but those for a source tree, the plugin, manual and other pages,
# systemd's files and, where there is none yet, the configuration. Neither starts nor enables anything. SYSCONFDIR is compiled
# in, so `make` and `make install` must be given the same one.

INSTALL ?= install
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
CATALOGDIR ?= $(PREFIX)/lib/systemd/catalog
DOCDIR ?= $(PREFIX)/share/doc/ibcc-tune
conf_dir := $(SYSCONFDIR)/ibcc-tune

# What make install would put somewhere is taken away from there, but for a configuration that was changed.
uninstall: all
	$(Q)t=$$(mktemp -d) && trap 'rm -rf "$$t"' EXIT && \
	$(MAKE) --no-print-directory install DESTDIR="$$t" && \
	cp -p '$(DESTDIR)$(conf_dir)/ibcc-tuned.yaml' "$$t/was.yaml" 2>/dev/null; \
	(cd "$$t" && find . -type f ! -path ./was.yaml) | { while read -r f; do \
		case "$$f" in \
		'.$(conf_dir)/ibcc-tuned.yaml') \
			cmp -s "$$t/was.yaml" "$$t/$$f" || \
				{ [ ! -e "$$t/was.yaml" ] || echo "$(DESTDIR)$${f#.} was changed and stays"; continue; } ;; \
		esac; \
		set -- "$$@" '$(DESTDIR)'"$${f#.}"; \
	done; rm -f "$$@"; }; \
	(cd "$$t" && find . -depth -type d -path '*/ibcc-tune*') | while read -r d; do \
		rmdir '$(DESTDIR)'"$${d#.}" 2>/dev/null || :; \
	done

# All that goes to one folder by one process: one for each file would cost more than all else.
.PHONY: uninstall
install: D := $(DESTDIR)
install: all
	$(Q)$(INSTALL) -D -m 0755 -t '$(D)$(SBINDIR)' $(B)/ibcc-tuned $(B)/ibcc-jobs
	$(Q)$(INSTALL) -D -m 0755 -t '$(D)$(BINDIR)' $(filter-out %/ibcc-tuned %/ibcc-jobs %/ibcc-lab,$(programs))
	$(Q)$(INSTALL) -D -m 0755 -t '$(D)$(LIBDIR)' $(plugin)
	$(Q)for s in $(sort $(patsubst .%,%,$(suffix $(wildcard man/*.[1-8])))); do \
		$(INSTALL) -D -m 0644 -t '$(D)$(MANDIR)'/man$$s man/*.$$s || exit 1; \
	done
	$(Q)mkdir -p '$(D)$(UNITDIR)'
	$(Q)sed 's|@SBINDIR@|$(SBINDIR)|' systemd/ibcc-tuned.service.in >'$(D)$(UNITDIR)/ibcc-tuned.service'
	$(Q)sed -e 's|^Description=.*|& of fabric %i|' -e 's|^Exec.*@SBINDIR@/ibcc-tuned|& --fabric %i|' \
		-e 's|^StateDirectory=ibcc-tune$$|&/%i|' -e 's|@SBINDIR@|$(SBINDIR)|' \
		systemd/ibcc-tuned.service.in >'$(D)$(UNITDIR)/ibcc-tuned@.service'
	$(Q)sed 's|@SBINDIR@|$(SBINDIR)|' systemd/ibcc-jobs.service.in >'$(D)$(UNITDIR)/ibcc-jobs.service'
	$(Q)chmod 0644 '$(D)$(UNITDIR)/ibcc-jobs.service' '$(D)$(UNITDIR)/ibcc-tuned.service' '$(D)$(UNITDIR)/ibcc-tuned@.service'
	$(Q)$(INSTALL) -D -m 0644 -t '$(D)$(UNITDIR)' systemd/ibcc-tuned-metrics.socket
	$(Q)$(INSTALL) -D -m 0644 -t '$(D)$(DATADIR)/schema' doc/schema/*
	$(Q)$(INSTALL) -D -m 0644 -t '$(D)$(DATADIR)/monitoring' $(filter-out %.sh,$(wildcard monitoring/*))
	$(Q)$(INSTALL) -D -m 0755 -t '$(D)$(DATADIR)/monitoring' monitoring/*.sh
	$(Q)$(INSTALL) -D -m 0644 systemd/ibcc-tune.sysusers '$(D)$(SYSUSERSDIR)/ibcc-tune.conf'
	$(Q)$(INSTALL) -D -m 0644 systemd/ibcc-tune.tmpfiles '$(D)$(TMPFILESDIR)/ibcc-tune.conf'
	$(Q)$(INSTALL) -D -m 0644 systemd/40-ibcc-tune.rules '$(D)$(UDEVDIR)/40-ibcc-tune.rules'
	$(Q)$(INSTALL) -D -m 0644 systemd/ibcc-tune.bash '$(D)$(BASHCOMPDIR)/ibcc-tune'
	$(Q)$(INSTALL) -D -m 0644 systemd/ibcc-tune.zsh '$(D)$(ZSHCOMPDIR)/_ibcc-tune'
	$(Q)$(INSTALL) -D -m 0644 systemd/ibcc-tune.catalog '$(D)$(CATALOGDIR)/ibcc-tune.catalog'
	$(Q)[ -e '$(D)$(conf_dir)/ibcc-tuned.yaml' ] || \
		$(INSTALL) -D -m 0644 systemd/ibcc-tuned.yaml '$(D)$(conf_dir)/ibcc-tuned.yaml'
# Pages keep their places to each other, for their links. What is elsewhere gets absolute ones.
	$(Q)$(INSTALL) -D -m 0644 -t '$(D)$(DOCDIR)' README.md INSTALL.md CONTRIBUTING.md NEWS LICENSE
	$(Q)for d in $(sort $(dir perftest/README.md $(wildcard doc/*.md doc/images/*.svg doc/*/*.md))); do \
		case $$d in perftest/) p=README.md ;; */images/) p='*.svg' ;; *) p='*.md' ;; esac; \
		$(INSTALL) -D -m 0644 -t '$(D)$(DOCDIR)'/$$d $$d$$p || exit 1; \
	done
	$(Q)sed -i 's#](\(doc/\)\{0,1\}\(schema\|monitoring\)#]($(DATADIR)/\2#g' '$(D)$(DOCDIR)'/*.md
	$(Q)for d in scenarios experiments tune; do \
		$(INSTALL) -D -m 0644 -t '$(D)$(DATADIR)'/$$d perftest/$$d/*.yaml || exit 1; \
	done
	$(Q)$(INSTALL) -D -m 0644 -t '$(D)$(DATADIR)/tune/oracle' perftest/tune/oracle/*.json
