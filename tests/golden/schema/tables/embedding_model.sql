create table millrace.embedding_model (
  embed_model text not null,
  embed_version text not null,
  dimension integer,
  registered_at timestamp with time zone not null
);
alter table millrace.embedding_model add constraint embedding_model_dimension_check CHECK (((dimension >= 1) AND (dimension <= 16000)));
alter table millrace.embedding_model add constraint embedding_model_pkey PRIMARY KEY (embed_model, embed_version);
