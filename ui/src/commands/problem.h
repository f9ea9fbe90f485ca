#pragma once

#include <QString>

#include "engine/base/error.h"
#include "text/failure.h"

namespace ui {

/// Something that went wrong, for the bar across the centre.
struct Problem {
    QString sentence;
    QString hint;
    engine::ErrorCode code = engine::ErrorCode::settings;
    bool note = false;  ///< no fault: an answer to something the user did
    QString file = {};  ///< a file or folder that was written, which the bar offers to open
    bool lasts = false;  ///< stays on screen when training starts: it holds for the runs to come
    Failure failure = {};  ///< what sentence and hint say, in any language; empty: only they do
};

}  // namespace ui
