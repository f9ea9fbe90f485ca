#pragma once

#include <QString>

namespace ui {

/// A widget that draws figures and says them in words when a screen reader asks
/// (widgets/spoken_texts.h). The words are made at that moment, so they are never of an earlier
/// state.
class Spoken {
public:
    virtual ~Spoken() = default;
    virtual QString spoken() const = 0;
};

}  // namespace ui
