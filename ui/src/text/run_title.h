#pragma once

#include <QString>
#include <string>

namespace ui {

class RunTrack;

/// A precision's name for people: "AMP FP16".
QString precisionTitle(const std::string& preset);
/// A run's name on screen: its precision, and its tag where that is not enough.
QString trackTitle(const RunTrack& track);

}  // namespace ui
