// photo: a page as somebody photographed it on a desk with a telephone.
//
// The page is seen at an angle through a lens that bends it a little, in uneven light, with the
// shadow of a hand; then blur and grain.
#pragma once

#include "samples/chance.h"
#include "samples/page/paint.h"

namespace millrace::samples {

// `page` has 32 bits per pixel, so has the photograph.
Image photo(const Image& page, Chance& chance, double strength);

}  // namespace millrace::samples
