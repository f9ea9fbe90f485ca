#pragma once

// Debian and Ubuntu build the library with it, and its structures have other sizes without. Nothing
// here uses TLS.
#ifndef CPPHTTPLIB_OPENSSL_SUPPORT
#define CPPHTTPLIB_OPENSSL_SUPPORT
#endif
#include <httplib.h>
