-- The index of the search, and a notification of each enactment.

-- What a search looks up, so that it reads the units that have the words and no others. The words and their parts of a
-- version of a unit never change after its enactment. fn_search_enter writes the rows when a law is enacted.

create table public.unit_search (
    version_id uuid primary key references public.unit_version,
    -- the words of the title (weight A) and of the text, and the law's own word (fn_search_law)
    words tsvector not null,
    -- every three letters that follow each other within a word, and the law's own word
    grams text[] not null
);
create index unit_search_words on public.unit_search using gin (words);
create index unit_search_grams on public.unit_search using gin (grams);

-- Each word of enacted law, with the words that lack one of its letters: two words that share one are a typing mistake apart.
create table public.search_word (
    word text collate "C" primary key,
    near text[] not null
);
create index search_word_near on public.search_word using gin (near);

-- An enactment is told to the programs that read enacted law.
alter table cutter_governance.notification
    drop constraint notification_kind_check,
    add constraint notification_kind_check
        check (kind in ('approval', 'policy_stop', 'stop', 'failure', 'finished', 'batch', 'enacted'));
