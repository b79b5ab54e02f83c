// The same for test programs.
#include "product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
