// Rasters: frames that Leptonica does not decode, or not rightly, by the libraries below it.
//
// Sizes were checked before: what is allocated here is what the header says. Nothing when a frame
// cannot be decoded. 32 bits per pixel, white where nothing covers the paper.
#pragma once

#include "document/inspect/image_formats.h"
#include "document/read/picture.h"

#include <string_view>

namespace millrace::document {

// Of four colours, which Leptonica takes for inverted ones in part when Adobe's marker is missing.
PixPtr cmyk_jpeg_raster(std::string_view bytes, ImageSize size);

// Tiles, planes, the old form of JPEG; turned as the page says.
PixPtr tiff_raster(std::string_view bytes, const TiffPage& page, ImageSize size);

// libpng looks for the header by itself: one of another size is not decoded.
PixPtr png_raster(std::string_view bytes, ImageSize size);

}  // namespace millrace::document
