#pragma once

class QLabel;

namespace ui {

/// Gives screen readers values and not captions alone: a label with a name of its own is called
/// by it and its text ("Steps: 1,204"), a choice by its name and what is chosen ("Data set:
/// Spirals"), a widget that is Spoken is described by its words of the moment. Once for the
/// program; further calls do nothing.
void installSpokenTexts();

/// Tells screen readers that the text of a label with a name of its own has changed. Qt does so for
/// the others.
void announceText(QLabel* label);

}  // namespace ui
