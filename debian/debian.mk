# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# make deb, make rpm: packages, built in a copy of the sources, so that this tree's build/ stays. They need the
# distribution's own tools (dpkg-dev, debhelper; rpm-build), which `make deps` does not install. Nobody reads mail for
# the project yet: packages say so, by an address that cannot exist (RFC 2606), or have that of whoever builds them
# (DEBFULLNAME, DEBEMAIL).

.PHONY: deb rpm check-boot check-debian

version := $(shell sed -n 's/.*IBCC_VERSION "\(.*\)"/\1/p' include/ibcc/version.h)
sources := $(wildcard Makefile LICENSE NEWS README.md INSTALL.md CONTRIBUTING.md LICENSES include lib daemon opensm-plugin sim \
	   perftest tests systemd monitoring man doc debian rpm)

deb:
	$(Q)rm -rf $(B)/deb && mkdir -p $(B)/deb/ibcc-tune-$(version)
	$(Q)cp -pr $(sources) $(B)/deb/ibcc-tune-$(version)
	$(Q)[ -z "$$DEBEMAIL" ] || sed -i "s|ibcc-tune developers <[^>]*>|$${DEBFULLNAME:-Local build} <$$DEBEMAIL>|" \
		$(B)/deb/ibcc-tune-$(version)/debian/control $(B)/deb/ibcc-tune-$(version)/debian/changelog
	$(Q)cd $(B)/deb/ibcc-tune-$(version) && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS \
		DEB_BUILD_OPTIONS="nocheck parallel=$$(nproc) $$DEB_BUILD_OPTIONS" dpkg-buildpackage -us -uc -b
	$(Q)rm -rf $(B)/deb/ibcc-tune-$(version)
	$(Q)ls $(B)/deb/*.deb

# On a system without RPM's database of packages, RPMFLAGS=--nodeps.
RPMFLAGS ?=
rpm:
	$(Q)rm -rf $(B)/rpm && mkdir -p $(B)/rpm/SOURCES $(B)/rpm/ibcc-tune-$(version)
	$(Q)cp -pr $(sources) $(B)/rpm/ibcc-tune-$(version)
	$(Q)tar -C $(B)/rpm -czf $(B)/rpm/SOURCES/ibcc-tune-$(version).tar.gz ibcc-tune-$(version)
	$(Q)rm -rf $(B)/rpm/ibcc-tune-$(version)
	$(Q)env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS rpmbuild -bb $(RPMFLAGS) --define '_topdir $(CURDIR)/$(B)/rpm' \
		rpm/ibcc-tune.spec
	$(Q)find $(B)/rpm/RPMS -name '*.rpm'

# Packages of its own and a container: minutes, so it is no part of make check.
check-debian:
	+@bash tests/boot/debian.sh $(B)
check-boot: deps
	+@bash tests/boot/boot.sh $(B)
