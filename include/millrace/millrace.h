// All of the public interface.
#pragma once

#include <millrace/error.h>
#include <millrace/job.h>
#include <millrace/producer.h>
#include <millrace/testing.h>
#include <millrace/worker.h>
