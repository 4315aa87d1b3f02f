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

install: all
	@$(MAKE) --no-print-directory do-install

# What make install would put somewhere is taken away from there, but for a configuration that was changed.
uninstall: all
	$(Q)t=$$(mktemp -d) && trap 'rm -rf "$$t"' EXIT && \
	$(MAKE) --no-print-directory do-install DESTDIR="$$t" && \
	cp -p '$(DESTDIR)$(conf_dir)/ibcc-tuned.yaml' "$$t/was.yaml" 2>/dev/null; \
	(cd "$$t" && find . -type f ! -path ./was.yaml) | while read -r f; do \
		case "$$f" in \
		'.$(conf_dir)/ibcc-tuned.yaml') \
			cmp -s "$$t/was.yaml" "$$t/$$f" || \
				{ [ ! -e "$$t/was.yaml" ] || echo "$(DESTDIR)$${f#.} was changed and stays"; continue; } ;; \
		esac; \
		rm -f '$(DESTDIR)'"$${f#.}"; \
	done; \
	(cd "$$t" && find . -depth -type d -path '*/ibcc-tune*') | while read -r d; do \
		rmdir '$(DESTDIR)'"$${d#.}" 2>/dev/null || :; \
	done

.PHONY: do-install uninstall
do-install: D := $(DESTDIR)
do-install:
	$(Q)$(INSTALL) -D -m 0755 $(B)/ibcc-tuned '$(D)$(SBINDIR)/ibcc-tuned'
	$(Q)$(INSTALL) -D -m 0755 $(B)/ibcc-jobs '$(D)$(SBINDIR)/ibcc-jobs'
	$(Q)for p in $(filter-out ibcc-tuned ibcc-jobs ibcc-lab,$(notdir $(programs))); do \
		$(INSTALL) -D -m 0755 $(B)/$$p '$(D)$(BINDIR)'/$$p || exit 1; \
	done
	$(Q)for p in $(notdir $(plugin)); do $(INSTALL) -D -m 0755 $(B)/$$p '$(D)$(LIBDIR)'/$$p || exit 1; done
	$(Q)for m in man/*.[1-8]; do \
		s=$${m##*.}; $(INSTALL) -D -m 0644 $$m "$(D)$(MANDIR)/man$$s/$${m#man/}" || exit 1; \
	done
	$(Q)mkdir -p '$(D)$(UNITDIR)'
	$(Q)sed 's|@SBINDIR@|$(SBINDIR)|' systemd/ibcc-tuned.service.in >'$(D)$(UNITDIR)/ibcc-tuned.service'
	$(Q)sed -e 's|^Description=.*|& of fabric %i|' -e 's|^Exec.*@SBINDIR@/ibcc-tuned|& --fabric %i|' \
		-e 's|^StateDirectory=ibcc-tune$$|&/%i|' -e 's|@SBINDIR@|$(SBINDIR)|' \
		systemd/ibcc-tuned.service.in >'$(D)$(UNITDIR)/ibcc-tuned@.service'
	$(Q)sed 's|@SBINDIR@|$(SBINDIR)|' systemd/ibcc-jobs.service.in >'$(D)$(UNITDIR)/ibcc-jobs.service'
	$(Q)chmod 0644 '$(D)$(UNITDIR)/ibcc-jobs.service' '$(D)$(UNITDIR)/ibcc-tuned.service' '$(D)$(UNITDIR)/ibcc-tuned@.service'
	$(Q)$(INSTALL) -D -m 0644 systemd/ibcc-tuned-metrics.socket '$(D)$(UNITDIR)/ibcc-tuned-metrics.socket'
	$(Q)for f in doc/schema/*; do $(INSTALL) -D -m 0644 $$f '$(D)$(DATADIR)'/$${f#doc/} || exit 1; done
	$(Q)for f in monitoring/*; do case $$f in *.sh) mode=0755 ;; *) mode=0644 ;; esac; \
		$(INSTALL) -D -m $$mode $$f '$(D)$(DATADIR)'/$$f || exit 1; done
	$(Q)$(INSTALL) -D -m 0644 systemd/ibcc-tune.sysusers '$(D)$(SYSUSERSDIR)/ibcc-tune.conf'
	$(Q)$(INSTALL) -D -m 0644 systemd/ibcc-tune.tmpfiles '$(D)$(TMPFILESDIR)/ibcc-tune.conf'
	$(Q)$(INSTALL) -D -m 0644 systemd/40-ibcc-tune.rules '$(D)$(UDEVDIR)/40-ibcc-tune.rules'
	$(Q)$(INSTALL) -D -m 0644 systemd/ibcc-tune.bash '$(D)$(BASHCOMPDIR)/ibcc-tune'
	$(Q)$(INSTALL) -D -m 0644 systemd/ibcc-tune.zsh '$(D)$(ZSHCOMPDIR)/_ibcc-tune'
	$(Q)$(INSTALL) -D -m 0644 systemd/ibcc-tune.catalog '$(D)$(CATALOGDIR)/ibcc-tune.catalog'
	$(Q)[ -e '$(D)$(conf_dir)/ibcc-tuned.yaml' ] || \
		$(INSTALL) -D -m 0644 systemd/ibcc-tuned.yaml '$(D)$(conf_dir)/ibcc-tuned.yaml'
# Pages keep their places to each other, for their links. What is elsewhere gets absolute ones.
	$(Q)for d in README.md INSTALL.md CONTRIBUTING.md NEWS LICENSE perftest/README.md doc/*.md doc/images/*.svg doc/*/*.md; do \
		$(INSTALL) -D -m 0644 $$d '$(D)$(DOCDIR)'/$$d || exit 1; \
	done
	$(Q)sed -i 's#](\(doc/\)\{0,1\}\(schema\|monitoring\)#]($(DATADIR)/\2#g' '$(D)$(DOCDIR)'/*.md
	$(Q)for s in perftest/scenarios/*.yaml perftest/experiments/*.yaml perftest/tune/*.yaml \
			perftest/tune/oracle/*.json; do \
		$(INSTALL) -D -m 0644 $$s '$(D)$(DATADIR)'/$${s#perftest/} || exit 1; \
	done
