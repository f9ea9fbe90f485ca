#pragma once

#include <vector>

#include "engine/settings/catalog.h"

namespace engine {

/// Options of all kinds of detection data whose pictures lie in files.
std::vector<OptionSpec> detection_options();
/// A typical schema, before the files are opened.
Schema typical_detection_schema();

}  // namespace engine
