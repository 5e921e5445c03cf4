"""The third-party parts of an artifact, each with its licence: Debian's shared libraries, header-only libraries that are compiled
in, and the npm packages of the page. Used by tools/dist."""
import json
import pathlib
import re
import shutil
from dataclasses import dataclass, field

# Debian packages with templates that are compiled into the program.
HEADERS = ('libboost1.74-dev', 'libeigen3-dev', 'libexpected-dev')
# Names of Debian's copyright files -> SPDX.
SPDX = {
    'apache-2.0': 'Apache-2.0', 'bsd-2-clause': 'BSD-2-Clause', 'bsd-3-clause': 'BSD-3-Clause', 'bsd-4-clause': 'BSD-4-Clause', 'bsd-variant': 'bzip2-1.0.6',
    'bsl-1.0': 'BSL-1.0', 'boost-1.0': 'BSL-1.0', 'cc0': 'CC0-1.0', 'cc0-1.0': 'CC0-1.0', 'curl': 'curl', 'epl-1': 'EPL-1.0', 'expat': 'MIT', 'gpl-2': 'GPL-2.0-only',
    'gpl-2+': 'GPL-2.0-or-later', 'gpl-3+': 'GPL-3.0-or-later', 'isc': 'ISC', 'lgpl-2': 'LGPL-2.0-only', 'lgpl-2+': 'LGPL-2.0-or-later', 'lgpl-2.1': 'LGPL-2.1-only',
    'lgpl-2.1+': 'LGPL-2.1-or-later', 'lgpl-3+': 'LGPL-3.0-or-later', 'mit': 'MIT', 'mpl-2': 'MPL-2.0', 'mpl-2.0': 'MPL-2.0', 'openldap-2.8': 'OLDAP-2.8',
    'postgresql': 'PostgreSQL', 'x11': 'MIT', 'zlib': 'Zlib', 'expat with embedded exception': 'MIT'}
# Where the copyright file is free text, or its first paragraph is not about the library: the licence that the file states for the library.
STATED = {
    'libc6': 'LGPL-2.1-or-later', 'libgcc-s1': 'GPL-3.0-or-later WITH GCC-exception-3.1', 'libgfortran5': 'GPL-3.0-or-later WITH GCC-exception-3.1',
    'libstdc++6': 'GPL-3.0-or-later WITH GCC-exception-3.1', 'libquadmath0': 'LGPL-2.0-or-later', 'libgnutls30': 'LGPL-2.1-or-later', 'libtasn1-6': 'LGPL-2.1-or-later',
    'libgssapi-krb5-2': 'MIT', 'libk5crypto3': 'MIT', 'libkrb5-3': 'MIT', 'libkrb5support0': 'MIT', 'libcom-err2': 'MIT', 'libkeyutils1': 'LGPL-2.0-or-later',
    'libidn2-0': 'LGPL-3.0-or-later OR GPL-2.0-or-later', 'libsqlite3-0': 'blessing', 'librtmp1': 'LGPL-2.1-or-later', 'libssh2-1': 'BSD-3-Clause', 'libboost1.74-dev': 'BSL-1.0'}
COMMON = pathlib.Path('/usr/share/common-licenses')


@dataclass
class Part:
    """A package inside an artifact."""
    name: str
    version: str
    licence: str  # an SPDX expression
    texts: list  # files with the licence
    purl: str
    comment: str
    extracted: dict = field(default_factory=dict)  # texts of licences without an SPDX name: {LicenseRef-x: text}


def spdx_name(debian):
    return SPDX.get(re.sub(r'\s+', ' ', debian.strip().lower()))


def debian_licence(package, copyright_file):
    """(expression, extracted texts) of a Debian package: the licence of `Files: *`."""
    if package in STATED:
        return STATED[package], {}
    text = copyright_file.read_text(errors='replace') if copyright_file.exists() else ''
    found = re.search(r'^Files: *\n? *\*.*?^License: *(.+?)$', text, re.M | re.S)
    if found:
        words = re.split(r',?\s+(and|or)\s+', found.group(1).strip())
        names = [spdx_name(word) for word in words[0::2]]
        if all(names):
            return ' '.join(word for pair in zip(names, [*map(str.upper, words[1::2]), '']) for word in pair if word), {}
    if not text:
        raise SystemExit(f'packaging: {package} has no copyright file')
    reference = 'LicenseRef-' + re.sub(r'[^\w.-]', '-', package).replace('_', '-')
    return reference, {reference: text}


def debian_part(package, version, copyright_file, arch, comment):
    licence, extracted = debian_licence(package, copyright_file)
    return Part(package, version or 'unknown', licence, [copyright_file], f'pkg:deb/debian/{package}@{version}?arch={arch}', comment, extracted)


def npm_parts(web):
    """The packages of the page and all that they use, which is more than the page contains."""
    queue, found = list(json.loads((web / 'package.json').read_text())['dependencies']), {}
    while queue:
        name = queue.pop()
        folder = web / 'node_modules' / name
        if name in found:
            continue
        about = json.loads((folder / 'package.json').read_text())
        texts = sorted(path for path in folder.iterdir() if path.name.upper().startswith(('LICEN', 'COPYING')))
        if not texts or not isinstance(about.get('license'), str):
            raise SystemExit(f'packaging: the npm package {name} has no licence')
        found[name] = Part(name, about['version'], about['license'], texts, f"pkg:npm/{name.replace('@', '%40')}@{about['version']}",
                           'JavaScript of the page of `rightsize serve`')
        queue += list(about.get('dependencies', {}))
    return [found[name] for name in sorted(found)]


def write_licences(parts, folder):
    """The licence texts, one file per package, and the common ones that Debian's files refer to."""
    folder.mkdir(parents=True, exist_ok=True)
    referred = set()
    for part in parts:
        name = part.name.replace('/', '-').lstrip('@')
        (folder / f'{name}.txt').write_text('\n\n'.join(text.read_text(errors='replace') for text in part.texts))
        referred.update(re.findall(r'/usr/share/common-licenses/([\w.-]*\w)', (folder / f'{name}.txt').read_text()))
    for name in sorted(referred):
        if (COMMON / name).exists():
            shutil.copyfile(COMMON / name, folder / f'common-{name}.txt')


def sbom(parts, version, commit, arch, created):
    """The contents as an SPDX 2.3 document."""
    def described(name, version_, licence, comment, purl):
        return {'SPDXID': 'SPDXRef-' + re.sub(r'[^\w.-]', '-', name).replace('_', '-'), 'name': name, 'versionInfo': version_, 'downloadLocation': 'NOASSERTION',
                'licenseConcluded': licence, 'licenseDeclared': licence, 'copyrightText': 'NOASSERTION', 'filesAnalyzed': False, 'comment': comment,
                **({'externalRefs': [{'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl', 'referenceLocator': purl}]} if purl else {})}

    packages = [described('rightsize', version, 'Apache-2.0', f'commit {commit}', '')]
    packages += [described(('npm-' if part.purl.startswith('pkg:npm') else '') + part.name, part.version, part.licence, part.comment, part.purl) for part in parts]
    extracted = {name: text for part in parts for name, text in part.extracted.items()}
    return {'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': f'rightsize-{version}-{arch}',
            'documentNamespace': f'urn:rightsize:{version}:{commit}:{arch}', 'creationInfo': {'created': created, 'creators': ['Tool: tools/dist']},
            'packages': packages, 'hasExtractedLicensingInfos': [{'licenseId': name, 'extractedText': text} for name, text in sorted(extracted.items())],
            'relationships': [{'spdxElementId': 'SPDXRef-DOCUMENT', 'relationshipType': 'DESCRIBES', 'relatedSpdxElement': 'SPDXRef-rightsize'}] +
            [{'spdxElementId': 'SPDXRef-rightsize', 'relationshipType': 'CONTAINS', 'relatedSpdxElement': p['SPDXID']} for p in packages[1:]]}
