#ifndef CURL_TRUST_H
#define CURL_TRUST_H

/// From now on, every libcurl handle of this process that is told nothing else trusts the authorities of this PEM file only.
/// `URLSession` on Linux offers no way to say so. The path must stay readable; it is copied.
void curl_trust_file(const char *path);

#endif
