#pragma once

#include "engine/record/event.h"

namespace ui {

/// Nothing more comes from a run in this state.
inline bool ended(engine::RunState state) {
    return state == engine::RunState::done || state == engine::RunState::failed;
}

}  // namespace ui
