-- millrace.word_groups: English words that people use for the same thing, a group on each line: what a question calls laptop, a document may call notebook. Mostly everyday words, of many fields, and forms that
-- taking off endings does not lead together (drive, drove). A word may be in several groups. Lines that begin with # are titles.
create or replace function millrace.word_groups() returns text
  language sql immutable parallel safe set search_path = pg_catalog, pg_temp
return $words$
# Forms that endings do not explain.
child children kid kids youngster minor
man men male
woman women female lady
person people individual human somebody someone
foot feet
tooth teeth dental dentist
mouse mice
leaf leaves foliage
knife knives blade
life lives alive
half halves
drive drove driven driver motorist
ride rode ridden
write wrote written letter
speak spoke spoken talk conversation
take took taken
give gave given
buy bought purchase acquire order
sell sold sale
pay paid payment payable
lose lost loss missing
find found discover
steal stole stolen theft thief rob robbery burglary
break broke broken defective faulty defect
choose chose chosen choice select pick option
send sent dispatch ship post
keep kept retain retention store storage
leave left depart departure
begin began begun beginning start commence
eat ate eaten meal food
drink drank beverage
sleep slept asleep
fall fell fallen drop dropped tumble
freeze froze frozen frost ice icy
grow grew grown growth
know knew known knowledge
rise rose risen raise increase
teach taught teacher tutor instructor
tell told inform notify
wear wore worn clothes clothing dress garment
win won victory
fly flew flown flight plane aircraft aeroplane airplane
hide hid hidden conceal
meet met meeting conference assembly
run ran runner jog
see saw seen
shake shook shaken
spend spent expenditure
swim swam swum swimming swimmer pool
tear tore torn rip
throw threw thrown discard dispose disposal
wake woke woken awake
forget forgot forgotten
build built building construct construction builder
burn burnt burned burning fire flame blaze
bite bit bitten
feel felt
hear heard hearing listen
swell swollen swelling
shut closed close
good better best improve improvement
bad worse worst worsen
little less least
think thought opinion
sing sang sung song music
get got gotten receive obtain
lead led
sit sat seat
shine shone bright
sweep swept broom
bend bent curved
blow blew blown
draw drew drawn drawing
fight fought
shoot shot gun weapon
sink sank sunk
spread distribute
dwell dwelling live reside
# Family and people.
mother mom mum mummy parent
father dad daddy parent
parent guardian mother father
son boy
daughter girl
baby babies infant newborn toddler
brother sister sibling
husband wife wives spouse partner
grandmother grandfather grandparent
young youth teenager adolescent juvenile
old elderly senior aged pensioner
friend mate companion
neighbour neighbor
pregnant pregnancy maternity expectant expecting
birth born
wedding marriage marry married
die dead death died deceased deadly lethal fatal
funeral burial bury grave cemetery
guest visitor visit
foreign foreigner abroad overseas
citizen resident inhabitant
nursery kindergarten daycare creche
surname name names
police officer
refugee asylum migrant immigrant immigration
# Work.
job work position employment occupation profession role
employee staff worker personnel colleague coworker workforce
employer company firm business enterprise corporation
boss manager supervisor superior chief head
director executive board
hire recruit recruitment employ
dismiss dismissal fire fired sack terminate layoff
resign resignation quit
salary wage wages pay earnings income remuneration
bonus reward
holiday vacation leave
sick ill illness disease sickness unwell ailment
break pause rest interval recess
shift rota roster
trainee apprentice intern internship
probation trial
applicant candidate application apply
cv resume curriculum
retire retirement pension retired
training course education instruction
appointment meeting
office workplace desk
team group crew
duty task obligation responsibility
volunteer voluntary unpaid honorary
promotion promote career
expert specialist professional
technician mechanic repairman engineer
secretary clerk receptionist
waiter waitress
accountant bookkeeper accounting bookkeeping
treasurer cashier
auditor audit
scientist researcher research
colleague workmate
freelance freelancer contractor
remote home telework
# Money.
money cash funds
cost price fee charge expense rate tariff
cheap inexpensive affordable
expensive costly
free gratis complimentary
bill invoice
receipt voucher proof
discount reduction rebate deduction
refund reimburse reimbursement repay
compensation damages indemnity compensate
penalty fine sanction punish punishment
tax vat duties
budget allowance
loan credit mortgage borrow lend lent
debt owe owed arrears overdue
transfer remittance
deposit bail
donate donation gift contribute charity present
insurance insured insure coverage
profit gain surplus
revenue turnover sales
rent rental lease
landlord owner proprietor
tenant renter lodger occupant
subscription subscribe membership member
poor poverty hardship
rich wealth wealthy
bankrupt bankruptcy insolvency insolvent
invest investment investor
# Contracts, law and rules.
contract agreement
cancel cancellation terminate termination revoke withdraw withdrawal
notice notification announcement announce
deadline due
expire expiry lapse validity valid
law legal statute legislation
lawsuit sue sued litigation court
lawyer attorney solicitor counsel
judge court tribunal
crime criminal offence offense offender
illegal unlawful
allow allowed permit permitted permission authorised authorized
forbid forbidden prohibit prohibited prohibition ban banned
obligatory compulsory mandatory required requirement necessary must need
refuse reject rejected rejection refusal decline deny denied
accept acceptance agree consent approve approval
dispute disagreement conflict quarrel
complain complaint objection object grievance
sign signature
rule regulation guideline policy
right entitlement entitled
liable liability responsible
guarantee warranty
secret confidential confidentiality secrecy
anonymous anonymously unnamed
private privacy personal
inspect inspection inspector
certificate certification licence license
claim demand request
vote election elect ballot voting
chairman chair president chairperson
authority government official
fraud corruption bribe bribery
bully bullying harassment harass mock tease
discrimination discriminate racism
patent invention invent
evidence proof prove
annul void invalid
heir inherit inheritance
divorce divorced separate
tip gratuity
wallet purse
mandate authorise authorisation authorization
sublet sublease
# Time.
day daily
year yearly annual annually
quick quickly fast rapid rapidly soon speed
slow slowly
immediately instantly instant promptly
late delay delayed
early earlier beforehand advance ahead
prior previous earlier
afterwards later following
long duration last
often frequency frequent frequently
always permanent permanently constantly
temporary temporarily
night overnight evening
noon midday lunchtime
weekend saturday sunday
winter cold
calendar date schedule timetable
postpone defer reschedule
extend prolong renew renewal extension
term semester
# Quantity and degree.
maximum max limit highest
minimum min lowest smallest
number amount quantity count
big large huge
small tiny
enough sufficient adequate
whole entire complete full total
part portion share fraction
percent percentage
double twice two
weight weigh heavy kilogram kilo kilos kilograms kg
size dimension measurement
high height tall
wide width broad
deep depth
far distance kilometre kilometer mile
temperature degree degrees
litre liter
metre meter
average mean
exceed beyond
approximately roughly around
single alone
# Home.
flat apartment home house
house building dwelling home
toilet lavatory restroom bathroom wc
garden yard lawn
basement cellar
stairs staircase stairway
lift elevator
door entrance gate entry
floor storey
furniture chair desk table sofa
bed mattress bedding
lamp light bulb lighting
heating radiator boiler heater
fridge refrigerator freezer
cupboard cabinet wardrobe
carpet rug
rubbish trash garbage waste litter
clean cleaning wash washing rinse
dirt dirty soiled stain
noise noisy loud
quiet silent silence
smell odour odor stink scent
mould mold mouldy
damp moist moisture wet humid humidity
key keys lock locked
move relocate relocation moving
repair fix mend
maintenance upkeep maintain
renovate renovation refurbish
pet animal
dog puppy
cat kitten
address residence
smoke smoking cigarette tobacco
electricity power current mains electric electrical
cable cord lead wire
plug socket
pipe tube hose
tool equipment
tap faucet
vacuum hoover
oven stove cooker
leak leaking drip
block blocked jam stuck clogged
rope string
shelf rack
lid cover cap
book books novel paperback volume
soap detergent
scrap scraps leftovers peel remains
recycle recycling reuse
nail screw bolt
bag sack pouch
box carton crate container case
bottle jar
jewellery jewelry ring necklace
shoe shoes boot boots
coat jacket
gun weapon firearm
# Technology.
computer pc laptop notebook
phone telephone mobile cellphone smartphone
call ring dial
email mail message
internet online web
wifi wireless
website site page
password passphrase credentials
login log signin sign
software program app application
version release edition
update upgrade
install installation setup
file document
folder directory
print printer printout
copy duplicate photocopy
screen display monitor
button switch knob
battery accumulator batteries
charge recharge charging
delete deletion erase remove wipe destroy
restore recover recovery
reset restart reboot
error fault failure problem trouble issue bug
outage breakdown downtime crash
disk disc drive
encrypt encryption encrypted cryptographic cipher
hack hacker breach intrusion
virus malware
phishing scam
router modem
data information record records
picture photo photograph image photography
video film movie
device appliance unit gadget machine
setting configuration configure
chart graph diagram
engine motor
server host
firmware software update
notification alert reminder remind
spam junk
typo misspell misspelled spelling
log logged history record
backup backups copy
blackout outage
signal reception coverage
default preset standard
feature function
integrate integration interface api
# Health.
doctor physician gp clinician
hospital clinic
surgery operation surgeon operate surgical
medicine medication drug drugs medicament tablet pill remedy
dose dosage
therapy treatment treat cure
painkiller analgesic
pain ache hurt sore
injury injure injured wound hurt harm
fever temperature
vomit vomiting nausea
diarrhoea diarrhea
stomach belly abdomen tummy abdominal
heart cardiac
kidney kidneys renal
liver hepatic
lung lungs pulmonary
breath breathe breathing respiratory
blood bleeding bleed haemorrhage
bone fracture
eye eyes sight vision
infection infected infectious bacteria germ
inflammation inflamed
allergy allergic anaphylaxis intolerance
vaccine vaccination vaccinate vaccinated injection jab
seizure convulsion fit epilepsy
faint fainting unconscious
drowsy drowsiness dizzy dizziness
glucose sugar
poison poisonous toxic poisoning
emergency emergencies urgent
accident collision crash
bandage dressing plaster
symptom sign
diagnosis diagnose
test examination examine exam
laboratory lab
overweight obese obesity
exercise sport sports fitness workout
tired fatigue exhausted
anxiety anxious nervous nervousness tense
fear afraid
recover recovery heal healing
prescription prescribe prescribed
chemist pharmacy pharmacist
vet veterinarian veterinary
anaesthesia anesthesia anaesthetic
tumour tumor cancer
flu influenza
disabled disability wheelchair accessible accessibility
carer caregiver care nursing nurse
spine spinal back
sore ulcer wound
rash itch itchy eczema
stress strain
mental psychological psychiatric psychology
vein artery vessel
clot thrombosis embolism
syringe needle injection
intravenous infusion drip
paediatric pediatric children
addiction addicted dependence
contagious infectious infect
quarantine isolation isolate
disinfect disinfection sterilise sterile hygiene hygienic
# Travel.
trip journey travel travelling tour excursion
car vehicle automobile
lorry truck van
bus coach
train rail railway
ship boat vessel
bike bicycle cycle cycling
tyre tire
petrol gasoline fuel
hotel accommodation lodging
luggage baggage suitcase
ticket fare
passenger traveller traveler
road street route
reservation reserve book booking
pram stroller buggy pushchair
harbour harbor port
coast beach shore
underground subway metro
motorway highway
map plan
tourist sightseeing
parcel package packet
backpack rucksack
pedestrian walker
crossroads junction
detour diversion
tow breakdown
layover stopover
tent camp camping
# Food.
lunch dinner supper meal
restaurant canteen cafe cafeteria
cook cooking chef kitchen
meat beef pork
chicken poultry
fish seafood
alcohol alcoholic drunk beer wine
sweet sweets candy
dairy milk
vegetarian vegan
spoiled rotten
dish plate
ingredient ingredients recipe
# Nature and weather.
tree trees wood forest
plant plants flower flowers
river stream
lake pond
sea ocean
mountain hill
rain rainy wet
storm thunderstorm lightning
sun solar sunshine
insect bug
soil earth ground
stone rock
environment environmental ecological climate
farm farmer agriculture
drought dry
rain rained rainfall precipitation
fog mist
hail hailstone
harvest crop
seed seeds sow sowing
fertiliser fertilizer manure
pest pests vermin rodent rat
pollution polluted contaminate contamination
# School and leisure.
school college
pupil student
lesson class
mark grade score
homework assignment
headteacher headmaster principal
coach trainer
race competition contest
museum exhibition exhibit
art artist painting painter
festival party celebration
club association society
newspaper press magazine
author writer
game play player
walk walking hike hiking
gym fitness
# Trade.
customer client consumer buyer
supplier vendor provider
product goods item article
shop store
advertise advertisement advertising marketing
brand trademark
stock inventory
replace replacement substitute exchange
deliver delivery supply
warehouse depot
cargo freight load
quote quotation bid tender
# What is done, and how things are.
help assistance support aid assist
advice advise recommend recommendation
answer reply response respond react reaction
ask question inquire inquiry
use usage utilise utilize
make made produce production manufacture
change modify alter alteration amend edit adjust
add addition additional extra
reduce lower decrease
stop cease halt end discontinue
finish finished complete completed end
avoid prevent prevention
safe safety secure security
danger dangerous risk hazard hazardous unsafe
warn warning caution alarm alert
check verify verification control
calculate calculation compute
collect fetch pick
transport carry transportation
push press
hot warm heat
cold cool chilly
new fresh recent
easy simple
difficult hard
possible able
wrong incorrect mistake
correct right proper
different another
identical equal
similar alike
general usual normal ordinary standard
reason cause
result outcome consequence effect
purpose aim goal objective target
proposal suggestion suggest propose motion
near nearby close
inside indoors indoor
outside outdoors outdoor
damage damaged harm
colour color coloured
way method manner procedure
place location spot site
kind type sort
happen occur incident event
contact reach
submit hand lodge
receive obtain get
provide offer
attend attendance participate participation
absent absence miss
owner property belongings
fail failure unsuccessful
try attempt
dig excavate trench
attack assault violence violent
escape evacuate evacuation
organise organize organisation organization
programme program
behaviour behavior conduct
centre center middle
review assess assessment evaluate evaluation
record log note
supervise supervision monitor watch observe
assemble assembly mount
separate split divide
join combine merge
expel exclude exclusion
admission entrance entry
translate translation interpreter
publish publication
queue line
pause suspend suspension interrupt interruption stop
detect recognise recognize notice spot identify
unable impossible cannot
introduce introduction launch
explain explanation clarify clarification
describe description
show display demonstrate indicate
decide decision determine
discuss discussion talk debate
compare comparison
remain stay rest
exchange swap replace
share common jointly together
ignore disregard neglect negligence
encourage motivate
force compel coercion
lock secure fasten
rotate turn spin
squeeze compress pressure
mix blend stir
melt thaw
soak rinse wet
scratch scratched scrape
search seek look
practise practice rehearse rehearsal drill exercise
succeed success successful
ease relieve relief
suspect suspicion suspicious
doubt uncertain unsure
strange unusual odd abnormal
important essential crucial significant
main principal primary chief
extra surplus supplement supplementary overtime
common widespread frequent
rare rarely seldom
sudden suddenly unexpected
gradual gradually slowly
exact exactly precise accurate
ready prepared prepare preparation
angry anger annoyed
sad unhappy depressed depression
happy pleased satisfied satisfaction
polite courteous rude
honest fair fairness
guilty guilt blame fault culprit
previous former earlier
current present
future upcoming
modern contemporary
ancient historic history historical
origin source
$words$;
