// How a picture of a page is drawn: by the stage that draws it, and on the record of the document.
#pragma once

#include "output/manifest.h"
#include "pipeline/definition/definition.h"

#include <array>
#include <optional>

namespace millrace::pipeline {

inline constexpr int kPictureWidthMax = 1'600;  // Pixels.
inline constexpr std::string_view kPictureFormat = "png";
// What is drawn in is of these stages, where the pipeline has them: words that were read with
// doubt, and over them what was found.
inline constexpr std::array kPictureSources = {RunKind::spatial, RunKind::detect};

// Nothing where no stage reads pages.
std::optional<output::ManifestPictures> picture_recipe(const Pipeline& pipeline,
                                                       std::string generator);

}  // namespace millrace::pipeline
