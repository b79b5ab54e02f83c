-- millrace.text_language: the language of a text by its small words, or null where they do not tell. A tenth of the words of any running text are among the few commonest of its language; a list of
-- names or numbers has none. Only languages that PostgreSQL can take the endings of are told apart.
create or replace function millrace.text_language(p_text text) returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
begin atomic
  with word as (
    select lower(m[1]) as word from regexp_matches(left(p_text, 20000), '([[:alpha:]]+)', 'g') m),
  small (language, words) as (values
    ('en', '{the,of,and,to,in,is,that,for,with,be,are,this,by,not,from,or,it,must,you,your}'::text[]),
    ('de', '{der,die,und,das,den,von,zu,mit,sich,des,nicht,ist,im,dem,eine,ein,auf,werden,sind,wird}'),
    ('fr', '{le,la,les,des,et,du,une,est,dans,que,pour,qui,sur,par,pas,au,avec,ce,sont,aux}'),
    ('es', '{el,los,las,del,y,en,una,por,con,para,se,es,al,lo,su,como,no,más,está,que}'),
    ('it', '{il,di,che,gli,della,per,una,sono,con,non,del,è,nel,alla,dei,delle,si,le,da,più}'),
    ('pt', '{o,os,do,da,em,um,uma,para,com,não,na,no,por,dos,das,ao,é,são,mais,que}'),
    ('nl', '{de,het,een,van,en,dat,niet,met,zijn,op,voor,aan,door,worden,wordt,ook,bij,naar,uit,deze}'),
    ('da', '{og,det,er,af,til,på,ikke,som,med,der,den,til,har,vil,kan,skal,eller,hvis,blev,være}'),
    ('sv', '{och,att,det,är,som,på,av,för,inte,med,den,till,har,ska,eller,om,ett,kan,vara,när}'),
    ('nb', '{og,det,er,av,til,på,ikke,som,med,den,har,vil,kan,skal,eller,hvis,ble,være,etter,fra}'),
    ('fi', '{ja,on,ei,se,että,oli,ovat,hän,mutta,kun,myös,tai,joka,sen,voi,ole,jos,niin,kuin,mukaan}'),
    ('hu', '{a,az,és,hogy,nem,egy,is,volt,meg,csak,de,vagy,mint,ez,el,ha,már,még,kell,lehet}'),
    ('ro', '{și,în,la,de,nu,cu,pe,este,din,care,pentru,sau,mai,prin,sunt,fi,să,al,ale,unei}'),
    ('tr', '{ve,bir,bu,için,ile,da,de,olarak,olan,daha,gibi,en,çok,kadar,veya,her,ne,sonra,değil,ise}'),
    ('ru', '{и,в,не,на,что,с,по,для,как,это,из,от,к,при,или,за,его,быть,то,его}'),
    ('el', '{και,το,να,της,του,η,ο,που,με,για,είναι,από,στο,στην,δεν,τα,τις,οι,των,θα}'),
    ('ar', '{في,من,على,إلى,أن,عن,هذا,هذه,التي,الذي,مع,أو,كان,لا,ما,كل,بعد,قبل,ذلك,هو}'),
    ('hi', '{के,का,की,है,में,से,को,और,पर,हैं,यह,ने,एक,नहीं,लिए,भी,या,इस,कि,था}')),
  counted as (
    select s.language, count(*) as hits from small s join word w on w.word = any (s.words) group by s.language),
  best as (
    select c.language, c.hits, row_number() over (order by c.hits desc, c.language) as place from counted c)
  select b.language from best b
   where b.place = 1 and b.hits >= 3 and b.hits * 10 >= (select count(*) from word)
     and not exists (select from best n where n.place = 2 and n.hits * 10 > b.hits * 9);
end;
