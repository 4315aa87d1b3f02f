# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# make doc: a page for each published experiment and each page of doc/, with figures and plots as
# this tree measures them, in build/doc/. Nothing measured is kept in the sources.

doc_src   := $(wildcard doc/experiments/*.md)
doc_pages := $(patsubst doc/experiments/%.md,$(B)/doc/%.html,$(doc_src))
text_src  := $(wildcard doc/*.md doc/howto/*.md doc/internals/*.md)
text_html := $(addprefix $(B)/doc/,$(addsuffix .html,$(basename $(notdir $(text_src)))))

.PHONY: doc
doc: $(doc_pages) $(text_html) $(B)/doc/index.html

$(B)/doc/%.html: doc/experiments/%.md perftest/experiments/%.yaml doc/render.sh $(B)/ibcc-bench
	$(call say,DOC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sh doc/render.sh page $(B)/ibcc-bench $< $@
define text_rule
$(B)/doc/$(basename $(notdir $(1))).html: $(1) $(wildcard perftest/tune/*.yaml) doc/render.sh $(B)/ibcc-bench
	$$(call say,DOC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)sh doc/render.sh tuned $(B)/ibcc-bench $$< $$@
endef
$(foreach page,$(text_src),$(eval $(call text_rule,$(page))))
$(B)/doc/index.html: $(doc_src) doc/render.sh
	$(call say,DOC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)sh doc/render.sh index $@ $(doc_src)
