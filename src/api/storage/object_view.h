// Buckets and objects as Supabase Storage shows them.
//
// Where our keys into the blob store and tenants are, these views say nothing of them. Times are
// the database's; an object has no time of last access here, so it is that of its last change.
#pragma once

#include "base/json.h"

namespace millrace::api {

// {"name","id","updated_at","created_at","last_accessed_at","metadata"}; of a folder the name alone
// is not null.
json::Object storage_entry(const json::Object& object);

// The same of an object that is gone, with its bucket and owner.
json::Object removed_entry(const json::Object& object);

// {"id","name","version","bucket_id","size","content_type","cache_control","etag","metadata",…}.
json::Object storage_info_of(const json::Object& object);

// {"id","name","owner","public","file_size_limit","allowed_mime_types","created_at","updated_at"}.
// No bucket is public or anybody's own.
json::Object storage_bucket_of(const json::Object& bucket);

}  // namespace millrace::api
