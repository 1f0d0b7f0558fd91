-- Returns a text in lower case and without accents. Letters that people also write in another way get one form: `ß` is
-- `ss`, `đ` is `d`. Arabic and Hebrew lose their vowel points, and Arabic letters and digits their variants.
create or replace function cutter_governance.fn_search_fold(p_text text) returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
return normalize(
    translate(
        replace(replace(replace(
            lower(regexp_replace(normalize(p_text, NFKD),
                '[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]', '', 'g')),
            'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
        'đøłıðςٱىیةک٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹', 'dolidσايي' || 'هك' || '01234567890123456789'),
    NFC);
