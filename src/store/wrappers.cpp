#include "store/wrappers.h"

#include "store/migration_set.h"
#include "store/sql_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

namespace millrace::store {

namespace {

Result<pg::ResultSet> ask(pg::SyncConnection& connection, std::string sql, pg::Params params = {}) {
  return connection.query(std::move(sql), std::move(params), MR_POINT("expose"));
}

// PostgreSQL itself prints the signatures; with this search path all names in them are qualified.
constexpr std::string_view kFunctions = R"sql(
  select p.proname::text as name, quote_ident(p.proname) as quoted_name,
         pg_get_function_identity_arguments(p.oid) as identity,
         pg_get_function_result(p.oid) as result,
         '(' || pg_get_function_arguments(p.oid) || ') returns ' || pg_get_function_result(p.oid)
           || ' language sql'
           || case p.provolatile when 'i' then ' immutable' when 's' then ' stable' else '' end
           || case when p.proisstrict then ' strict' else '' end
           || case p.proparallel when 's' then ' parallel safe' when 'r' then ' parallel restricted'
              else '' end
           || ' security invoker set search_path = pg_catalog, pg_temp' as head,
         -- A composite value that is null must stay null, so only sets and records are spread.
         case when p.proretset or p.prorettype = 'record'::regtype then '* from ' else '' end
           || 'millrace.' || quote_ident(p.proname) || '('
           || coalesce((select string_agg(
                case when i.mode = 'v' then 'variadic ' else '' end
                || coalesce(quote_ident(nullif(i.name, '')) || ' => ', '')
                || '$' || i.number, ', ' order by i.number)
              from (select a.mode, a.name, row_number() over (order by a.position) as number
                      from unnest(coalesce(p.proargmodes,
                                           array_fill('i'::"char", array[p.pronargs::integer])),
                                  p.proargnames) with ordinality a(mode, name, position)
                     where a.mode in ('i', 'b', 'v')) i), '')
           || ')' as body,
         coalesce((select r.rolname::text from pg_roles r where r.rolname = 'service_role'), '')
           as rights
    from pg_proc p join millrace.exposed_names() e on e.kind = 'function' and e.name = p.proname
   where p.pronamespace = 'millrace'::regnamespace and p.prokind = 'f'
   order by p.proname, p.oid)sql";

constexpr std::string_view kViews = R"sql(
  select c.relname::text as name, quote_ident(c.relname) as quoted_name, '' as identity,
         '' as result, ' with (security_invoker = true)' as head,
         (select string_agg('v.' || quote_ident(a.attname), ', ' order by a.attnum)
            from pg_attribute a
           where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)
           || ' from millrace.' || quote_ident(c.relname) || ' v' as body,
         coalesce((select string_agg(distinct case x.grantee when 0 then 'public'
                                     else x.grantee::regrole::text end, ', ')
            from aclexplode(c.relacl) x
           where x.privilege_type = 'SELECT' and x.grantee <> c.relowner), '') as rights
    from pg_class c join millrace.exposed_names() e on e.kind = 'view' and e.name = c.relname
   where c.relnamespace = 'millrace'::regnamespace and c.relkind = 'v'
   order by c.relname)sql";

// What a schema holds: functions and relations.
constexpr std::string_view kPresent = R"sql(
  select true as function, p.proname::text as name, p.oid::regprocedure::text as signature,
         pg_get_function_identity_arguments(p.oid) as identity,
         coalesce(pg_get_function_result(p.oid), '') as result,
         coalesce(obj_description(p.oid, 'pg_proc'), '') as comment,
         'function ' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' as what
    from pg_proc p where p.pronamespace = $1::regnamespace
  union all
  select false, c.relname::text, c.oid::regclass::text, '', '',
         coalesce(obj_description(c.oid, 'pg_class'), ''),
         case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'i' then 'index'
           when 'S' then 'sequence' when 'c' then 'type' else 'table' end || ' ' || c.relname
    from pg_class c where c.relnamespace = $1::regnamespace)sql";

constexpr std::string_view kFunctionHolders = R"sql(
  select distinct x.grantee::regrole::text as role
    from pg_proc p cross join aclexplode(p.proacl) x
   where p.pronamespace = $1::regnamespace and p.proname = $2
     and pg_get_function_identity_arguments(p.oid) = $3 and x.grantee not in (0, p.proowner))sql";

constexpr std::string_view kViewHolders = R"sql(
  select distinct x.grantee::regrole::text as role
    from pg_class c cross join aclexplode(c.relacl) x
   where c.relnamespace = $1::regnamespace and c.relname = $2 and $3::text = ''
     and x.grantee not in (0, c.relowner))sql";

struct Present {
  bool function = false;
  std::string signature;
  std::string identity;
  std::string result;
  std::string comment;
  std::string what;  // For people: "function f(integer)", "table v".

  bool ours() const { return comment.starts_with(kWrapperComment); }
};

std::string quote_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

// The wrappers of one schema.
class SchemaWrappers {
 public:
  SchemaWrappers(pg::SyncConnection& connection, std::string schema)
      : connection_(connection), schema_(std::move(schema)), quoted_(quote_identifier(schema_)) {}

  Result<std::size_t> update(const std::vector<Exposed>& exposed) {
    MR_TRY_VOID(read_present());
    MR_TRY_VOID(refuse_conflicts(exposed));
    std::size_t changed = 0;
    std::set<std::string> kept;
    for (const auto& wanted : exposed) {
      const auto* present = find(wanted);
      if (present) kept.insert(present->signature);
      if (present && present->comment == comment_of(wanted)) continue;
      MR_TRY_VOID(may_create());
      MR_TRY_VOID(make(wanted, present));
      ++changed;
    }
    // What is not exposed any more, or has other arguments now.
    for (const auto& [name, present] : present_) {
      if (!present.ours() || kept.contains(present.signature)) continue;
      MR_TRY_VOID(drop(present));
      ++changed;
    }
    return changed;
  }

 private:
  Result<void> read_present() {
    MR_TRY(const auto rows, ask(connection_, std::string(kPresent), pg::params(quoted_)));
    for (const auto row : rows) {
      present_.emplace(std::string(row.text("name")),
                       Present{.function = row.boolean("function"),
                               .signature = std::string(row.text("signature")),
                               .identity = std::string(row.text("identity")),
                               .result = std::string(row.text("result")),
                               .comment = std::string(row.text("comment")),
                               .what = std::string(row.text("what"))});
    }
    return {};
  }

  // PostgREST cannot choose between functions of one name, so any function of that name is in the
  // way; so is any relation of a view's name.
  Result<void> refuse_conflicts(const std::vector<Exposed>& exposed) const {
    std::set<std::string> taken;
    for (const auto& wanted : exposed) {
      const auto [first, last] = present_.equal_range(wanted.name);
      for (auto it = first; it != last; ++it) {
        const auto& present = it->second;
        if (present.function == wanted.function && !present.ours()) taken.insert(present.what);
      }
    }
    if (taken.empty()) return {};
    return fail(ErrorKind::conflict,
                fmt::format("cannot expose millrace in schema {}: these names are taken: {}; "
                            "nothing was created there",
                            schema_, fmt::join(taken, ", ")));
  }

  const Present* find(const Exposed& wanted) const {
    const auto [first, last] = present_.equal_range(wanted.name);
    for (auto it = first; it != last; ++it) {
      const auto& present = it->second;
      if (present.ours() && present.function == wanted.function &&
          present.identity == wanted.identity) {
        return &present;
      }
    }
    return nullptr;
  }

  Result<void> may_create() {
    MR_TRY(const auto answer,
           ask(connection_, "select has_schema_privilege($1, 'create') as may, current_user as me",
               pg::params(schema_)));
    if (answer[0].boolean("may")) return {};
    return fail(ErrorKind::invalid_argument,
                fmt::format("role {} may not create in schema {}", answer[0].text("me"), schema_));
  }

  Result<void> make(const Exposed& wanted, const Present* present) {
    // A function's return type cannot be changed in place, nor a view's columns.
    if (present && present->result != wanted.result) MR_TRY_VOID(drop(*present));
    MR_TRY_VOID(ask(connection_, "savepoint one_wrapper"));
    if (auto made = ask(connection_, create_text(wanted)); !made) {
      const bool replace = present && !wanted.function && made.error().sqlstate == "42P16";
      if (!replace) return fail(std::move(made).error());
      MR_TRY_VOID(ask(connection_, "rollback to savepoint one_wrapper"));
      MR_TRY_VOID(drop(*present));
      MR_TRY_VOID(ask(connection_, create_text(wanted)));
    }
    MR_TRY_VOID(ask(connection_, "release savepoint one_wrapper"));
    MR_TRY_VOID(give_rights(wanted));
    MR_TRY_VOID(ask(connection_,
                    fmt::format("comment on {} {} is {}", wanted.function ? "function" : "view",
                                signature_of(wanted), quote_text(comment_of(wanted)))));
    return {};
  }

  // Exactly these rights: a hosted server's default privileges may have given others at creation.
  Result<void> give_rights(const Exposed& wanted) {
    const std::string_view kind = wanted.function ? "function" : "table";
    MR_TRY(const auto holders,
           ask(connection_, std::string(wanted.function ? kFunctionHolders : kViewHolders),
               pg::params(quoted_, wanted.name, wanted.identity)));
    std::vector<std::string> roles = {"public"};
    for (const auto row : holders) roles.emplace_back(row.text("role"));
    MR_TRY_VOID(ask(connection_, fmt::format("revoke all on {} {} from {}", kind,
                                             signature_of(wanted), fmt::join(roles, ", "))));
    if (wanted.rights.empty()) return {};
    MR_TRY_VOID(ask(connection_,
                    fmt::format("grant {} on {} {} to {}", wanted.function ? "execute" : "select",
                                kind, signature_of(wanted), wanted.rights)));
    return {};
  }

  Result<void> drop(const Present& present) {
    MR_TRY_VOID(ask(connection_, fmt::format("drop {} {}", present.function ? "function" : "view",
                                             present.signature)));
    return {};
  }

  std::string signature_of(const Exposed& wanted) const {
    return wanted.function ? fmt::format("{}.{}({})", quoted_, wanted.quoted_name, wanted.identity)
                           : fmt::format("{}.{}", quoted_, wanted.quoted_name);
  }

  std::string create_text(const Exposed& wanted) const {
    return wanted.function
               ? fmt::format("create or replace function {}.{}{} as $wrapper$ select {} $wrapper$",
                             quoted_, wanted.quoted_name, wanted.head, wanted.body)
               : fmt::format("create or replace view {}.{}{} as select {}", quoted_,
                             wanted.quoted_name, wanted.head, wanted.body);
  }

  // Ends with a checksum, by which a wrapper that is right already is left alone.
  std::string comment_of(const Exposed& wanted) const {
    const auto sum = sha256_hex(create_text(wanted) + "\n" + wanted.rights).substr(0, 12);
    return fmt::format("{} of millrace.{} ({})", kWrapperComment, wanted.name, sum);
  }

  pg::SyncConnection& connection_;
  std::string schema_;
  std::string quoted_;
  std::multimap<std::string, Present> present_;  // By name.
};

}  // namespace

Result<std::optional<std::vector<Exposed>>> read_exposed(pg::SyncConnection& connection) {
  MR_TRY(const auto source,
         ask(connection,
             "select from pg_proc p join pg_namespace n on n.oid = p.pronamespace "
             "where p.proname = 'exposed_names' and n.nspname = 'millrace'"));
  if (source.empty()) return std::nullopt;
  std::vector<Exposed> exposed;
  for (const bool function : {true, false}) {
    MR_TRY(const auto rows, ask(connection, std::string(function ? kFunctions : kViews)));
    for (const auto row : rows) {
      exposed.push_back({.function = function,
                         .name = std::string(row.text("name")),
                         .quoted_name = std::string(row.text("quoted_name")),
                         .identity = std::string(row.text("identity")),
                         .result = std::string(row.text("result")),
                         .head = std::string(row.text("head")),
                         .body = std::string(row.text("body")),
                         .rights = std::string(row.text("rights"))});
    }
  }
  return exposed;
}

Result<std::size_t> update_wrappers(pg::SyncConnection& connection,
                                    const std::vector<Exposed>& exposed,
                                    const std::optional<std::string>& schema) {
  std::set<std::string> schemas;
  MR_TRY(const auto present, ask(connection,
                                 "select distinct n.nspname::text as name from pg_description d "
                                 "left join pg_proc p on p.oid = d.objoid and "
                                 "d.classoid = 'pg_proc'::regclass "
                                 "left join pg_class c on c.oid = d.objoid and "
                                 "d.classoid = 'pg_class'::regclass and d.objsubid = 0 "
                                 "join pg_namespace n on n.oid in (p.pronamespace, c.relnamespace) "
                                 "where starts_with(d.description, $1)",
                                 pg::params(kWrapperComment)));
  for (const auto row : present) schemas.emplace(row.text("name"));
  if (schema) {
    MR_TRY(const auto found,
           ask(connection, "select from pg_namespace n where n.nspname = $1", pg::params(*schema)));
    if (found.empty() || *schema == "millrace") {
      return fail(ErrorKind::invalid_argument,
                  fmt::format("cannot expose millrace in schema {}: {}", *schema,
                              found.empty() ? "it does not exist" : "that is where it lives"));
    }
    schemas.insert(*schema);
  }
  std::size_t changed = 0;
  for (const auto& name : schemas) {
    MR_TRY(const auto count, SchemaWrappers(connection, name).update(exposed));
    changed += count;
  }
  return changed;
}

Result<void> drop_view_wrappers(pg::SyncConnection& connection,
                                const std::vector<std::string>& views) {
  pg::Params params;
  params.add_array(views).add(kWrapperComment);
  MR_TRY(const auto wrappers, ask(connection,
                                  "select distinct w.oid::regclass::text as signature "
                                  "from unnest($1::text[]) n(name) "
                                  "join pg_depend d on d.refobjid = to_regclass(n.name) "
                                  "join pg_rewrite r on r.oid = d.objid "
                                  "join pg_class w on w.oid = r.ev_class "
                                  "where w.oid <> d.refobjid and "
                                  "starts_with(obj_description(w.oid, 'pg_class'), $2)",
                                  std::move(params)));
  for (const auto row : wrappers) {
    MR_TRY_VOID(ask(connection, fmt::format("drop view {}", row.text("signature"))));
  }
  return {};
}

}  // namespace millrace::store
