// qpdf's headers, made fit for this compiler. Include this instead of them.
//
// JSON.hh defaults a destructor where its own type is still incomplete, which C++23's constexpr
// vector does not allow. Nobody here writes PDF as JSON, so the name is enough.
#pragma once

#define POINTERHOLDER_TRANSITION 4
#define JSON_HH
class JSON;

#include <qpdf/QPDF.hh>
#include <qpdf/QPDFObjectHandle.hh>
