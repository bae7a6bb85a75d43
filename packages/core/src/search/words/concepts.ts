/** Groups of related English words, the built-in knowledge of the ranker: "sunny" leads to a weather tool. */

/** Words that ask for the same operation. One group per line; an indented line continues the one above. For the bar, see below. */
export const actionGroups = `
  create add new make generate build compose insert initialize init setup register open start | schedule book raise file
  generate create produce make build draw render design compose
  delete remove erase clear drop discard destroy purge uninstall clean wipe rid trash dispose | cancel stop end revoke
  update edit modify change alter revise patch set adjust replace rename
  get fetch retrieve read obtain load pull view access look lookup see check | what which when who whose where
  list enumerate all browse display every show | what which
  search find query lookup locate discover look seek explore hunt
  send post publish submit deliver share forward dispatch transmit notify
  save store write persist record keep put export
  upload attach import put
  download export save fetch grab
  compare difference diff versus contrast against
  convert transform translate change turn format encode
  calculate compute evaluate solve determine count sum figure work
  estimate predict forecast project approximate
  analyze analysis examine inspect investigate study assess evaluate review audit
  summarize summary digest brief overview recap condense shorten tldr
  validate verify check confirm test lint ensure
  schedule plan book arrange organize calendar reserve
  book reserve reservation booking appointment
  buy purchase order shop pay shopping acquire
  run execute launch invoke start trigger perform retry rerun
  restart reboot reload relaunch
  stop cancel kill terminate end abort halt close quit
  move transfer relocate migrate rename shift
  copy duplicate clone replicate fork
  connect link join attach associate relate relation relationship
  append attach add include insert extend
  recommend suggest advise advice propose recommendation suggestion
  explain describe define definition meaning clarify
  learn study teach education tutor lesson course
  track monitor watch follow trace observe
  sort order rank arrange top best
  filter select choose pick narrow
  merge combine join unite concatenate
  split divide separate cut partition
  encrypt cipher secure hash encode
  decrypt decode decipher
  compress zip archive minify shrink
  extract parse scrape crawl pull
  reply respond answer response
  invite add member join
  approve accept authorize allow grant permit
  reject deny decline refuse dismiss block ban
  subscribe follow subscription
  enable activate toggle turn
  disable deactivate toggle turn
  install setup deploy add
  deploy release publish ship rollout
  login signin authenticate authentication auth sign credential
  undo revert rollback restore reset
  restore recover backup recovery
  remind reminder alert notification notify alarm
  navigate visit open goto go browse
  click press tap select
  type enter fill input write
  scan detect recognize identify identification
`

/**
 * Words of one subject. Words after the bar lead a query to the subject but do not put a tool into it: a query about an umbrella may
 * ask for the weather, but a tool that sells umbrellas is not a weather tool.
 */
export const topicGroups = `
  weather forecast temperature rain sunny snow wind humidity storm climate umbrella meteorological precipitation hot cold
    degrees | cloudy fog foggy heat cool coat jacket thunderstorm hurricane rainy raining snowing windy celsius fahrenheit
    barometric uv dew metar outdoor picnic
  time date clock timezone hour now today current | utc gmt oclock
  calendar event meeting schedule appointment agenda | events monday tuesday wednesday thursday friday saturday sunday
    availability busy slot tomorrow tonight
  reminder todo task checklist | remind forget deadline due chore
  email mail inbox gmail message outlook mailbox | emails sender recipient newsletter subject
  newsletter broadcast campaign
  message chat sms text dm slack conversation whatsapp telegram discord
  phone call telephone contact mobile number dial
  contact person people profile address colleague employee coworker staff | who team teammate
  image picture photo photograph pic illustration graphic png jpg jpeg artwork | drawing photos portrait wallpaper visual
    sketch pixel painting camera
  video clip movie film footage youtube stream watch | videos vlog tiktok vimeo subtitle
  audio sound music song voice mp3 speech podcast
  music song track album artist playlist band singer spotify lyrics concert | songs jazz rock pop rap tune guitar piano melody
    listen soundtrack genre beats remix
  movie film cinema show tv series actor director theater netflix | films movies actress hollywood oscar imdb genre comedy
    thriller horror watch sitcom cast episodes streaming
  book novel author read library ebook literature reading | books fiction chapter bestseller reads novels genre mystery
    fantasy publisher
  news headline article journalism headlines latest current events | breaking politics journalist media coverage updates
    happening bbc cnn reuters press
  article blog post story publication writing content
  paper research academic scholar journal scientific arxiv publication study literature citation | papers studies findings
    thesis researchers pubmed doi citations scholarly scientists abstract
  document doc file pdf report docx word
  pdf document file page | pdfs ebook manuscript
  file document folder directory path filesystem | txt md zip json xml yaml log backup desktop
  folder directory path
  spreadsheet excel sheet csv workbook cell table column | xlsx xls pivot sheets
  presentation slide powerpoint deck ppt slides | pptx keynote powerpoints slideshow
  table row column database record
  database sql table query schema db relational postgres mysql sqlite record | mongodb postgresql tables rows queries
  repository repo git github codebase project code gitlab | repositories opensource projects
  commit push git version change staged | staging stage modified untracked changes
  branch git merge checkout | branches
  issue bug ticket problem error defect | errors bugs crash unresolved
  pull request pr merge review
  code program programming script source function software developer snippet | python javascript java debug compile algorithm
    coding programmer typescript cpp csharp
  website web site page url webpage internet online link html | websites homepage landing blog domain webpages wordpress
  url link address website web page | http https www com org
  browser web page tab navigate chrome
  map location place geographic geography coordinates navigation gps directions | maps nearest nearby near street
    pharmacy supermarket atm
  location address place city coordinates where nearby geocode latitude longitude | nearest near zip postal street
    neighborhood
  directions route navigation driving path distance map way travel | drive walking traffic commute fastest miles
  travel trip vacation holiday tourism tourist itinerary destination journey visit getaway traveling | explore abroad
    sightseeing beach landmark attraction passport visa backpack honeymoon cruise paris bali europe tour tours flying weekend
  flight airline airport plane fly ticket airfare aviation | flights airlines departure arrival layover jfk boeing depart
    passenger flying
  hotel accommodation lodging stay room hostel airbnb motel resort | hotels suite checkin guest inn villa overnight bedroom
    rooms
  train railway rail ticket station | amtrak trains
  bus transit transport transportation
  car vehicle auto automobile drive driving automotive | toyota honda ford bmw suv sedan mileage engine dealer license motor
    truck
  taxi ride cab uber rideshare | lyft pickup
  electric ev charging charger tesla | chevy bolt supercharger nissan
  restaurant dining food eat meal cuisine dinner lunch cafe menu | pizza sushi burger italian chinese mexican vegetarian vegan
    brunch chef hungry eatery steak seafood dessert reservation dish takeout
  food meal recipe cook dish cooking cuisine ingredient nutrition kitchen
  recipe cook cooking ingredient dish meal food bake | chicken pasta soup salad sauce oven vegan vegetarian cake baking
    dessert flavor ingredients dinner pantry
  nutrition calorie diet food healthy protein vitamin nutrient | carbs fat fiber sugar weight meal eating intake macros snack
    diabetes vegan
  health medical healthcare doctor disease patient medicine symptom illness clinical hospital | pain fever headache cancer
    diabetes treatment therapy surgery nurse diagnosis blood heart allergy infection vaccine covid flu cough physician clinic
  medicine drug medication pharmaceutical pharmacy prescription
  fitness exercise workout gym training running | muscle cardio yoga weight lose strength stretching routine marathon steps
  sport game team league match player football soccer basketball athlete score | nba nfl mlb nhl championship cup tennis golf
    cricket baseball hockey goal coach standings olympics lakers playoffs scores teams fifa
  game gaming play player videogame | minecraft steam xbox playstation nintendo roblox esports quest fun bored
  stock share market ticker equity trading investor invest investment finance nasdaq | aapl tesla tsla apple amazon microsoft
    shares dividend earnings portfolio trade bullish bearish options etf quarterly wall trader nyse dow ipo
  invest investment portfolio stock fund asset finance trading | returns wealth retirement savings diversify diversified
    dividend etf bond bonds capital
  crypto cryptocurrency bitcoin ethereum blockchain coin token wallet | btc eth defi solana dogecoin mining altcoin binance
    coinbase staking
  blockchain ethereum wallet nft token
  currency exchange money dollar euro rate convert forex | usd eur gbp jpy yen pound yuan rupee dollars euros currencies pesos
  money finance payment bank price cost budget fund financial cash | expense expenses spending save salary income earn profit
    revenue afford dollars economic economy
  bank loan mortgage credit account interest
  loan mortgage debt interest credit borrow repayment | lender refinance apr amortization monthly installment principal down
  price cost pricing fee expensive cheap rate value
  tax income taxes accounting | irs deduction refund filing vat
  invoice bill billing payment receipt
  payment pay checkout transaction card stripe
  discount coupon deal sale promo offer savings cheap bargain | coupons deals sales cheaper cheapest voucher promotion save
    offers clearance blackfriday
  product item goods merchandise shopping store | laptop phone camera shoes dress headphones electronics furniture gadget
    brand sneakers iphone model
  shop store shopping ecommerce retail product buy amazon purchase online | laptop phone camera shoes dress headphones
    electronics furniture gadget brand sneakers jacket watch bag tv television appliance affordable cheap sell seller toys
  gift present giftcard | birthday anniversary christmas valentine wedding surprise
  fashion clothes clothing outfit style wear dress shirt apparel | shoes jacket jeans sneakers skirt suit hat tshirt pants
    coat wardrobe trendy wedding attire accessories jewelry
  house home property realestate apartment real estate rent rental housing mortgage buy | bedroom bathroom buying purchase
    landlord tenant lease condo zillow neighborhood villa apartments houses homes sqft
  job career employment work hiring vacancy resume recruit occupation position | jobs interview salary employer engineer
    remote internship freelance skills applicant hire careers openings profession qualification
  resume cv career job | interview cover applicant
  company business firm organization corporation enterprise | startup ceo industry founder employees companies competitor
    corporate funding revenue
  customer client consumer crm
  sales lead crm marketing prospect
  marketing advertising campaign ad seo promotion brand advertisement
  seo keyword ranking google backlink | rankings optimize organic traffic visibility engine
  social media twitter instagram facebook tweet post | tweets followers hashtag tiktok influencer linkedin reddit viral
    trending posts
  law legal lawyer attorney court regulation legislation rights | lawsuit contract illegal copyright sue liability statute
    judge compliance constitution
  patent intellectual trademark invention
  government public policy political politics law
  education school student learning course teach university class teacher college | homework degree exam professor
    kindergarten grades academic tutor teaching
  course class lesson tutorial learning training education curriculum | coursera udemy learn skill beginner instructor
    certification bootcamp programming lectures
  student pupil learner
  language translate translation linguistic word english spanish french vocabulary | german japanese chinese russian
    portuguese arabic italian korean hindi mandarin phrase fluent pronunciation hello conversation
  translate translation language translator multilingual | german japanese chinese russian portuguese arabic italian korean
    finnish swedish dutch polish turkish greek czech danish norwegian hungarian ukrainian vietnamese thai hebrew
    hindi french spanish
  word dictionary definition meaning vocabulary synonym thesaurus | phrase idiom etymology term
  grammar writing spelling proofread essay text | paragraph rewrite rephrase polish improve sentence edit plagiarism
    proofreading wording tone
  essay writing write draft text
  poem poetry story creative fiction
  math mathematics calculation equation algebra calculator arithmetic number formula numeric | derivative integral matrix
    geometry triangle polynomial divide multiply sum root quadratic factorial prime gcd algebraic area volume circle square
  statistics data analysis statistical average mean | median deviation variance correlation regression probability
    distribution survey
  chart graph plot visualization diagram visualize dashboard | bar pie histogram scatter infographic axis
  diagram flowchart mindmap chart uml graph
  data dataset information statistics database
  science scientific physics chemistry biology
  space astronomy nasa planet star rocket satellite | mars moon galaxy telescope asteroid apod hubble solar orbit universe
    comet
  art artist painting drawing museum artwork gallery | sculpture paintings picasso gogh artworks drawings masterpiece canvas
  museum exhibit exhibition art gallery collection
  design designer graphic logo creative visual layout
  logo brand icon design | branding banner
  color colour palette hex
  font typography typeface
  meme funny joke humor gif | hilarious laugh viral caption
  joke funny humor comedy laugh
  quote quotation inspirational saying
  horoscope astrology zodiac tarot fortune | aries taurus gemini leo virgo libra scorpio capricorn aquarius pisces birth chart
    sign future
  tarot fortune divination card | future destiny psychic reading
  religion bible god prayer christian spiritual | verse jesus church faith scripture quran islam jewish
  pet dog cat animal | puppy kitten breed vet dogs cats pets
  animal wildlife species pet
  plant garden gardening flower agriculture crop | soil seeds tree vegetable grow houseplant harvest farm farming fertilizer
  environment climate carbon emission sustainability ecological green | pollution recycling greenhouse footprint warming
    renewable
  energy electricity power electric solar | kwh battery watt fuel gas petrol
  event concert ticket festival show conference | gig venue tickets theater performances nightlife
  ticket event concert booking
  dating relationship love match partner | girlfriend boyfriend wife husband marriage romantic date
  child kid children kids family parent toddler | baby son daughter toddlers bedtime
  game chess puzzle trivia | sudoku riddle crossword wordle guess play fun bored
  quiz trivia question test exam | flashcard flashcards questions
  survey form questionnaire poll feedback
  review rating feedback opinion reviews
  password login credential secret
  security vulnerability threat secure attack malware risk | hack hacker cve phishing breach firewall virus
  user account profile member
  account profile user login
  permission role access authorization
  server host machine instance vm
  cloud aws azure gcp hosting | ec2 s3 lambda
  container docker kubernetes pod image | containers k8s helm cluster
  log logging trace error logs
  error exception bug crash failure
  metric monitoring performance usage analytics
  analytics insight statistics traffic metric
  api endpoint integration rest webhook
  webhook integration trigger automation
  automation workflow automate pipeline zapier
  workflow pipeline process automation
  test testing unit quality
  qr barcode code qrcode
  domain dns whois hostname registrar | domains registered tld nameserver
  ip address network geolocation | ipv4 subnet
  network internet ip connection
  file upload storage drive bucket
  storage bucket blob file drive
  memory knowledge graph entity note remember | recall facts entities relations observations node nodes stored
  note notes memo notebook notion
  todo task project kanban board
  project task management milestone sprint
  prompt ai chatbot gpt llm assistant
  ai artificial intelligence model machine neural | chatgpt openai deep
  model machine learning training
  speech voice tts audio speak
  screenshot capture screen snapshot image | screenshots
  text string content words
  random generator dice
  unit conversion measure measurement convert
  length distance measure meter
  weight mass kg pound
  date day month year time
  birthday age born
  holiday vacation festival
  history historical past archive
  trending popular trend hot top
  podcast episode audio show
  stream live broadcast
  package delivery shipping parcel shipment tracking courier | fedex ups usps dhl
  shipping delivery shipment order freight
  insurance policy coverage claim | premium deductible insured
  supply inventory stock warehouse
  manufacturing factory production
  wine drink beer alcohol cocktail beverage | sake whiskey vodka bar brewery wines
  coffee cafe drink tea
  beauty makeup cosmetic skin hair | skincare lipstick shampoo acne
  mental psychology therapy emotion stress counseling mindfulness wellness | anxiety depression feelings sad mood happiness
    affirmation affirmations motivation positive self
  sleep meditation relax wellness calm | breathing relaxation insomnia mindfulness
  pregnancy baby parenting
  real estate property house
  crime police criminal | murder theft arrest
  emergency disaster earthquake
  water river ocean sea
  population demographic census | income median residents households
  country nation countries flag
  city town urban
  song lyrics music
  dance music performance
  anime manga cartoon
  card deck game
  license certificate permit
  template layout boilerplate
  component ui interface widget
  css style html frontend
  json xml yaml format
  regex pattern match
  terminal shell command bash
  process system cpu task
  npm package library dependency
  documentation docs guide manual reference
  wiki wikipedia encyclopedia article knowledge
  question answer faq ask
  forum community discussion reddit
  comment reply thread discussion
  vote poll election
  channel slack discord server
  team group workspace organization
  label tag category
  elevation altitude height | high tall mountain summit peak
  observation fact finding
  status state progress condition | modified untracked staged unstaged healthy uptime
`
