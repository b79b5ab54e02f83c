// What scanners, fax machines and coffee do to a page. Grey pictures, 8 bits per pixel, changed in
// place unless the size changes.
//
// Strengths run from 0 (hardly seen) to 1 (hard, but a person reads it).
#pragma once

#include "samples/chance.h"
#include "samples/page/paint.h"

namespace millrace::samples {

// A good scanner: a little blur and grain.
void scanner_grain(Image& image, Chance& chance, double strength);
void salt_and_pepper(Image& image, Chance& chance, double strength);
void gaussian_noise(Image& image, Chance& chance, double strength);
void low_contrast(Image& image, Chance& chance, double strength);
void coffee_stain(Image& image, Chance& chance, double strength);
void fold_shadow(Image& image, Chance& chance, double strength);
void streaks(Image& image, Chance& chance, double strength);
void blur(Image& image, double radius_px);
// Low resolution, two colours, strokes that are too thin or too thick.
void fax(Image& image, Chance& chance, double strength, bool thick);
// Through JPEG and back: blocks around the letters.
void compress(Image& image, int quality);

// Clockwise by 90, 180 or 270 degrees.
Image quarter_turns(const Image& image, int degrees);
// Clockwise; the canvas grows when corners would be lost. The page stays in the middle.
Image skewed(const Image& image, double degrees);

}  // namespace millrace::samples
