# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# make doc: a page for each published experiment, on the control law and on threats, with figures and plots as
# this tree measures them, in build/doc/. Nothing measured is kept in the sources.

doc_src   := $(wildcard doc/experiments/*.md)
doc_pages := $(patsubst doc/experiments/%.md,$(B)/doc/%.html,$(doc_src))

.PHONY: doc
doc: $(doc_pages) $(B)/doc/control-law.html $(B)/doc/prediction.html $(B)/doc/notebook.html $(B)/doc/threat-model.html $(B)/doc/compatibility.html \
     $(B)/doc/first-day.html $(B)/doc/concepts.html $(B)/doc/index.html

$(B)/doc/%.html: doc/experiments/%.md perftest/experiments/%.yaml doc/render.sh $(B)/ibcc-bench
	$(call say,DOC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sh doc/render.sh page $(B)/ibcc-bench $< $@
$(B)/doc/control-law.html $(B)/doc/prediction.html $(B)/doc/notebook.html $(B)/doc/threat-model.html $(B)/doc/compatibility.html $(B)/doc/first-day.html $(B)/doc/concepts.html: $(B)/doc/%.html: doc/%.md $(wildcard perftest/tune/*.yaml) doc/render.sh $(B)/ibcc-bench
	$(call say,DOC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sh doc/render.sh tuned $(B)/ibcc-bench $< $@
$(B)/doc/index.html: $(doc_src) doc/render.sh
	$(call say,DOC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sh doc/render.sh index $@ $(doc_src)
