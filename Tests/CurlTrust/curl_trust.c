// Stands before libcurl's own curl_easy_init in a test program, so that URLSession can be tried against an authority that the
// machine does not know. Certificates are verified as ever.
#define _GNU_SOURCE
#include "curl_trust.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic(char *) trusted;

void curl_trust_file(const char *path) { free(atomic_exchange(&trusted, strdup(path))); }

CURL *curl_easy_init(void) {
  CURL *(*real)(void) = (CURL * (*)(void)) dlsym(RTLD_NEXT, "curl_easy_init");
  CURL *handle = real ? real() : NULL;
  const char *path = atomic_load(&trusted);
  if (handle && path && curl_easy_setopt(handle, CURLOPT_CAINFO, path) == CURLE_OK)
    curl_easy_setopt(handle, CURLOPT_CAPATH, NULL);
  return handle;
}
