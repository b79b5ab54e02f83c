// The handler of `render_invoice`: adds up the lines of an order and stores the invoice.
#pragma once

#include <millrace/worker.h>

millrace::client::Outcome render_invoice(const millrace::client::Job& job,
                                         millrace::client::Context& context);
