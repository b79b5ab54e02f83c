// Asio's non-template code, compiled here and nowhere else (BOOST_ASIO_SEPARATE_COMPILATION).
#include <boost/asio/impl/src.hpp>
