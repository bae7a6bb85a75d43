/** The same ideas in other languages, folded (no accents). Beginnings of words, because these languages have many endings. */
import type { WordList } from './concepts.js'

const spanish: WordList = {
  negation: 'nunca jamas sin ningun* tampoco nada evita evite evitar no',
  tell: 'di dile diga* digas decir* decirle mencion* inform* revel* avis* notific* comunic* cuent* conta* advert* explic* coment* divulg*',
  show: 'muestr* mostr* ensen* imprim*',
  hide: 'ocult* escond* secret* silencios* sigilos* discret* disimul* confidencial* calladamente escondidas',
  know: 'sepa* sabe* entere* entera* conocimiento note* perciba* vea consciente sospech*',
  user: 'usuari* person* humano* client* nadie',
  ignore:
    'ignor* omit* olvid* anul* descart* desobedec* salt* sobrescrib* reemplaz* invalida* desactiv* haz_caso_omiso haga_caso_omiso pas*_por_alto prescind*',
  instruction: 'instruccion* directri* directiva* indicacion* ordenes',
  rule: 'regla* norma* politica* restriccion* limite*',
  prior: 'anterior* previ* arriba original* tus sus sistema precedent* inicial*',
  read: 'lee* lea leer abr* carg* obten* recopil* extra* copi* busc* acced* recog* recup* consult*',
  put: 'inclu* pon* peg* adjunt* agreg* anad* insert* pasa pase pasar pasal* escrib* introduc* coloc* proporcion*',
  send: 'envi* mand* reenvi* sube suba subir* transmit* public* remit* filtr*',
  run: 'ejecut* llam* usa usar usarla use uses invoc* utiliz* proced* borr* elimin*',
  secret: 'contrasen* credencial* clave* token* secreto* cookies llave* variables_de_entorno',
  conversation:
    'conversacion* historial* mensajes_anteriores mensajes_previos charla prompt_del_sistema prompt_de_sistema mensaje_del_sistema instrucciones_del_sistema',
  model: 'asistente* modelo agente tu te usted debes ia',
  force:
    'debe* siempre obligatori* imprescindible importante critico inmediatamente urgente asegur* tiene* hay_que nunca necesari*',
  when: 'antes despues cuando cada primero siempre_que al_inicio al_final luego una_vez tras previamente',
  tool: 'herramienta* funcion* servidor*',
  other: 'otra* otro* cualquier* todas todos demas',
  consent: 'confirm* permiso* aprob* autoriz* consent* pregunt* pedir pida pidas consult*',
  change: 'cambi* reemplaz* modific* sustitu* redirig* alter* desvi*',
  argument: 'destinatari* direccion* cuenta* importe* parametro* argumento*',
  content:
    'contenido* completo* complet* entero* enter* integr* todo toda archivo* fichero* datos resultado* copia',
  also: 'tambien ademas copia asimismo',
  bad: 'obsolet* insegur* roto* rota* averiad* peligros*',
  answer: 'respuesta* respond* contest*',
  about: 'detect* ataque* ejemplo prevenir bloque* inyeccion*',
}

const german: WordList = {
  negation: 'nicht nie niemals ohne kein* weder nichts keinesfalls unterlass* auf_keinen_fall',
  tell: 'sag* erwahn* informier* mitteil* mitzuteilen teile verrat* offenbar* benachrichtig* erzahl* melde* erklar* preis* gib_bekannt hinweis* unterricht* verrate* berichte*',
  show: 'zeig* anzeig* ausgeb*',
  hide: 'versteck* verberg* verheimlich* heimlich* geheim* still* unauffallig* unbemerkt verschweig* diskret* vertraulich* verschwiegen* stillschweigend*',
  know: 'wiss* weiss merk* bemerk* erfahr* erfahrt sieht sehen kenntnis mitbekomm* wissen',
  user: 'nutzer* benutzer* anwender* mensch* kund* person* niemand*',
  ignore:
    'ignorier* missacht* vergiss* vergess* uberschreib* umgeh* ubergeh* verwerf* verwirf* setze_*_ausser ausser_kraft hinwegsetz* aufheb*',
  instruction: 'anweisung* instruktion* richtlini* vorgabe* systemprompt* systemnachricht* weisung*',
  rule: 'regel* beschrankung* einschrankung* vorschrift*',
  prior:
    'vorherig* bisherig* fruher* obig* vorangegangen* deine* ihre* ursprunglich* vorig* system* sonstig*',
  read: 'lese lest lesen lies offne* lade* hol* sammle* sammel* kopier* extrahier* such* ruf* beschaff* auslese* greif*',
  put: 'fug* ubergib* ubergeb* gib setze* schreib* einfug* anhang* hange* trag* lege legen packe* eintrag* beifug* mitgeb* mitgib*',
  send: 'send* schick* ubermittel* ubertrag* weiterleit* leite* lade_*_hoch hochlad* poste* versend* verschick*',
  run: 'fuhr* ausfuhr* ruf* aufruf* aufzurufen benutz* verwend* nutze* start* losch* aufgerufen',
  secret: 'passwor* zugangsdat* schlussel* geheimnis* token* anmeldedat* umgebungsvariabl* kennwor* cookies',
  conversation:
    'gesprach* unterhaltung* chatverlauf* verlauf* nachrichtenverlauf* systemprompt* konversation* dialog*',
  model: 'du assistent* modell* agent* ki dein* dich sie',
  force:
    'muss* immer unbedingt zwingend wichtig* kritisch* sofort stets soll* pflicht* niemals verpflichtend* erforderlich* bitte notwendig*',
  when: 'bevor vor nachdem nach wenn jedes jede* zuerst zunachst sobald vorher immer_wenn anschliessend dabei danach',
  tool: 'werkzeug* tool* funktion* server*',
  other: 'andere* alle* jede* beliebig* ubrig* irgendein*',
  consent:
    'bestatig* erlaubnis* zustimm* genehmig* frag* nachfrag* einwillig* freigabe* ruckfrag* nachzufragen',
  change: 'ander* ersetz* tausch* umleit* verander* modifizier* austausch* ersetze*',
  argument: 'empfanger* adresse* konto* betrag* parameter* argument* feld*',
  content: 'inhalt* vollstandig* ganze* gesamt* alles datei* daten ergebnis* kopie* komplett* wortlich*',
  also: 'auch zusatzlich ausserdem kopie* ebenfalls',
  bad: 'veraltet* unsicher* defekt* kaputt* gefahrlich*',
  answer: 'antwort*',
  about: 'erkenn* angriff* beispiel* verhinder* blockier* zum_beispiel',
}

const french: WordList = {
  negation: "ne n'* jamais sans aucun* ni evite* pas rien",
  tell: 'dis dit dire dites dise* mentionn* inform* revel* previen* prevenir avert* signal* notifi* divulgu* expliqu* parle* communiqu* avis*',
  show: 'montr* affich*',
  hide: 'cach* dissimul* secret* silencieu* discret* confidentiel* furtivement insu masqu*',
  know: 'sache* sait savoir remarqu* apercoi* voie voit insu conscien* apprenne',
  user: "utilisateur* personne* humain* l'utilisat* client* d'utilisat*",
  ignore:
    'ignor* oubli* outrepass* contourn* neglig* annul* ecart* faites_abstraction fais_abstraction remplac* desobei* passe*_outre',
  instruction: "instruction* consigne* directive* ligne*_directrice* d'instructions",
  rule: 'regle* politique* restriction* limite* contrainte*',
  prior: "precedent* anterieur* ci-dessus initial* tes vos votre systeme originale* d'origine existant*",
  read: 'lis lit lire lisez lise ouvr* charg* recuper* collect* extra* copi* cherch* obten* rassembl*',
  put: 'recopi* retranscri* inclu* mett* mets met ajout* joi* joign* inser* coll* plac* passe* transmett* fourni* ecri* renseign*',
  send: 'envo* expedi* transf* transmet* publi* televers* achemin* poste*',
  run: 'execut* appel* utilis* lanc* invoqu* effectu* supprim* proced*',
  secret:
    "mot*_de_passe mots_de_passe identifiants cle cles jeton* secret* cookies variables_d'environnement",
  conversation:
    'conversation* historique* messages_precedents prompt_systeme message_systeme invite_systeme echange*',
  model: "assistant* modele agent tu vous l'assistant l'agent ia l'ia",
  force:
    'doi* devez toujours obligatoire* imperati* important* critique immediatement urgent* imperativement faut assure* jamais veill* necessaire* requis*',
  when: "avant apres lorsqu* quand chaque d'abord ensuite des_que premier premiere tout_d'abord prealablement a_la_fin au_prealable avant_d'*",
  tool: "outil* l'outil d'outil fonction* serveur*",
  other: "autre* d'autre* tout tous toute* toutes n'importe quelconque",
  consent:
    "confirm* permission* approb* autoris* consent* demand* accord validation l'accord l'autorisation d'accord",
  change: 'chang* remplac* modifi* substitu* redirig* altere* detourn*',
  argument: 'destinataire* adresse* compte* montant* parametre* argument* champ*',
  content: "contenu* complet* entier* integral* tout fichier* donnees resultat* copie l'integralite",
  also: 'aussi egalement copie plus',
  bad: 'obsolet* dangereu* casse* vulnerable* peu_sur non_securise* defectueu*',
  answer: 'repon* repons*',
  about: "detect* attaque* exemple* empech* bloqu* injection* l'injection",
}

const italianAndPortuguese: WordList = {
  negation: 'non mai senza nessun* nao nunca sem nenhum* jamais',
  tell: 'dire dica dirlo dirgli menziona* informa* rivel* avvis* notific* comunic* conte contar diga dizer mencion* revele avise',
  hide: 'nascond* segret* silenziosa* esconda esconde* ocult* segred* silenciosa* sigilo*',
  know: 'sappia saputa sapere saiba saber conhecimento perceba conoscenza accorg*',
  user: 'utent* usuari* utilizador* pessoa* persona',
  ignore: 'ignor* dimentic* trascur* sovrascriv* esquec* desconsider* substitu* descarte',
  instruction: 'istruzion* direttiv* instrucoes instrucao diretriz*',
  rule: 'regol* regra* norm* restrizion* restric*',
  prior: 'precedent* anterior* previ* sistema tue suas iniziali iniciais',
  read: 'legg* leia ler apri abra raccogl* colet* copia copie recuper* obtenha',
  put: 'includ* inserisc* inclu* insir* passa passe aggiung* adicion* coloque allega',
  send: 'invia* inoltr* envi* encaminh* mande carica transmit*',
  run: 'esegui* chiam* usa* execut* cham* use',
  secret: 'password senha* credenzial* credencia* chiav* chave* segreti segredos',
  conversation: 'conversazion* cronologia conversa* historico prompt_di_sistema prompt_do_sistema',
  force: 'devi deve* sempre obbligatori* obrigatori* importante subito imediatamente immediatamente',
  when: 'prima dopo quando ogni antes depois cada sempre_que',
  tool: 'strument* ferramenta* funzion* funcao',
  other: 'altr* qualsiasi tutti outr* qualquer todas todos',
  consent: 'conferm* permess* confirma* permiss* chied* pedir autorizza* autoriza*',
  change: 'cambi* sostitui* modific* mude altere',
  content: 'contenut* complet* inter* intera tutto file conteudo* inteir* tudo arquivo* ficheiro*',
}

const dutch: WordList = {
  negation: 'niet nooit zonder geen',
  tell: 'vertel* zeg* vermeld* meld* informeer* onthul* laat_weten',
  hide: 'verberg* verzwijg* stiekem geheim* heimelijk*',
  know: 'weet weten merkt medeweten',
  user: 'gebruiker* mens',
  ignore: 'negeer* vergeet* overschrijf* omzeil*',
  instruction: 'instructie* richtlijn* opdracht* systeemprompt',
  prior: 'vorige eerdere voorgaande bovenstaande jouw je',
  read: 'lees lezen open verzamel* kopieer* haal',
  put: 'voeg neem zet plak geef',
  send: 'stuur verzend* zend* upload*',
  secret: 'wachtwoord* sleutel* inloggegevens geheimen',
  conversation: 'gesprek* chatgeschiedenis',
  force: 'moet* altijd verplicht belangrijk',
  when: 'voordat voor nadat wanneer telkens eerst elke',
  content: 'inhoud volledige hele alles bestand*',
}

const russian: WordList = {
  negation: 'не никогда без нельзя ни никому ничего никак',
  tell: 'говор* сказ* сообща* сообщ* упомин* рассказ* раскры* уведом* информир* предупрежд* объясн* упомян* оповещ*',
  show: 'показ* отобра* вывод*',
  hide: 'скры* тайн* незаметн* секретн* скрыва* молча тихо втайне конфиденц* утаи* спрят* прят*',
  know: 'зна* узна* замет* заме* видел* видит ведома догад* ведом*',
  user: 'пользовател* человек* людям клиент* никому',
  ignore: 'игнорир* забуд* забыт* отмен* обой* обход* пренебре* переопредел* отброс* наруш* проигнорир*',
  instruction: 'инструкци* указани* директив* предписани* руководств* установк*',
  rule: 'правил* ограничени* политик*',
  prior: 'предыдущ* прежн* ранее выше изначальн* сво* ваш* твои систем* предшеств* прошл*',
  read: 'прочита* прочти* прочт* чита* откро* откры* загруз* получ* собер* собра* скопир* извлек* найд* считай* возьм*',
  put: 'передай* переда* включ* встав* добав* помест* прилож* укаж* впиш* запиш* положи* подстав*',
  send: 'отправ* отошл* пошл* перешл* высл* загрузи* переслат* опублик* выгруз*',
  run: 'выполн* вызов* вызыв* использ* запуст* запуска* удал* вызва*',
  secret: 'парол* ключ* токен* секрет* учетн* кук* переменн*_окружени* логин* пасскод*',
  conversation: 'разговор* переписк* диалог* чат* истори* системн*_промпт* системн*_сообщени* беседы бесед*',
  model: 'ассистент* модел* агент* ты вы тебе вам помощник*',
  force:
    'долж* всегда обязательн* важн* критич* немедленн* сразу срочн* необходим* надо нужно никогда непременн* убедись требует* сначала',
  when: 'перед прежде после когда кажд* сначала сперва затем всякий до при',
  tool: 'инструмент* функци* сервер* утилит*',
  other: 'друг* люб* все всех остальн* ины*',
  consent: 'подтвержд* разрешени* соглас* одобрен* спраш* спроси* запрос* разрешил*',
  change: 'измен* замен* подмен* перенаправ* поменя*',
  argument: 'получател* адрес* счет* сумм* параметр* аргумент* пол*',
  content: 'содержим* полн* весь всю целик* все файл* данны* результат* копи* дослов*',
  also: 'также копи* дополнительно тоже',
  bad: 'устарел* небезопас* сломан* опасн*',
  answer: 'ответ* отвеч*',
  about: 'обнаруж* выявл* пример* атак* блокир* предотвращ*',
}

const others: WordList = {
  // Turkish, Polish, Ukrainian, Arabic, Hindi, Vietnamese, Indonesian: the words that matter most.
  negation: 'asla olmadan nie nigdy bez لا دون بدون न मत नही बिना khong dung jangan tanpa tidak ніколи',
  tell: 'soyleme* bahsetme* bildirme* mow* wspomina* informuj* повідомля* кажи* згаду* تخبر* تذكر* تخبره بتاؤ बताए बताओ बताना noi tiet_lo memberi beri_tahu memberitahu katakan sebutkan',
  hide: 'gizli* gizle* sessizce ukryj* potajemnie cicho таємно приховуй* سرا بصمت أخف* गुप्त छिपा* चुपचाप bi_mat am_tham diam-diam rahasia* sembunyikan',
  user: 'kullanici* uzytkownik* користувач* المستخدم للمستخدم उपयोगकर्ता यूजर nguoi_dung pengguna',
  ignore:
    'yoksay* unut* goz_ardi gormezden zignoruj* ignoruj* pomin* ігноруй* забудь* تجاهل* اهمل* अनदेखा नजरअंदाज भूल bo_qua abaikan* lupakan*',
  instruction:
    'talimat* yonerge* instrukcj* polecen* wytyczn* інструкці* вказівк* التعليمات تعليمات الاوامر निर्देश* निर्देशो chi_dan huong_dan instruksi* arahan perintah',
  prior: 'onceki tum poprzedni* wczesniejsz* попередн* السابقة جميع पिछले सभी truoc_do sebelumnya semua',
  read: 'oku* przeczytaj* odczytaj* прочита* اقرا* पढ़* doc baca*',
  put: 'ekle* ilet* gec* dolacz* przekaz* додай* передай* ارفق أضف مرر शामिल डाल* kem sertakan* masukkan*',
  send: 'gonder* wyslij* przeslij* надішли* відправ* ارسل* أرسل* भेज* gui kirim*',
  secret:
    'sifre* parola* anahtar* hasl* klucz* пароль паролі كلمة_المرور كلمات_المرور पासवर्ड mat_khau kata_sandi sandi',
  conversation: 'konusma* sohbet* rozmow* розмов* المحادثة बातचीत cuoc_tro_chuyen percakapan*',
  force:
    'her_zaman mutlaka zorunlu musisz zawsze koniecznie завжди обовязково يجب دائما हमेशा अवश्य luon phai selalu harus wajib',
  when: 'once her zanim przed zawsze_gdy перед قبل كل पहले truoc khi sebelum setiap',
  content: 'icerik* tamami zawartosc* calosc вміст محتوى محتويات كامل सामग्री पूरी noi_dung isi seluruh',
  tool: 'arac* narzedzi* інструмент* اداة أداة उपकरण cong_cu alat',
}

export const otherLanguages: readonly WordList[] = [
  spanish,
  german,
  french,
  italianAndPortuguese,
  dutch,
  russian,
  others,
]

/** Chinese, Japanese, Korean: pieces of text, as these scripts do not part their words. */
export const pieces: readonly WordList[] = [
  {
    negation:
      '不被 不会 不需要 不是 不要 不得 不能 不可 不应 不準 不准 禁止 切勿 请勿 請勿 无需 無需 无须 勿 别 未经 不必 不用 绝不 絕不 从不 决不 不让 不讓 未經 毋须 避免',
    tell: '告诉 告訴 告知 提及 提到 透露 通知 说明 說明 泄露 声张 提示 解释 报告 提起 让用户知道',
    show: '显示 顯示 展示 输出',
    hide: '隐藏 隱藏 秘密 悄悄 偷偷 保密 静默 靜默 暗中 隐瞒 隱瞞 默默 后台 瞒着 不动声色 私下',
    know: '知道 知情 察觉 发现 發現 看到 得知 注意到 知晓 意识到',
    user: '用户 用戶 使用者 人类 客户 他人 任何人',
    ignore:
      '忽略 无视 無視 忘记 忘記 忘掉 覆盖 覆蓋 绕过 繞過 跳过 抛弃 违反 取代 不理会 不予理会 作废 推翻 摒弃',
    instruction: '指令 指示 系统提示 系統提示 提示词 提示詞 命令 准则 守则 指引 安全设置',
    rule: '规则 規則 限制 政策 约束 规定',
    prior: '之前 先前 以前 以上 上述 前面 原有 所有 系统 系統 你的 您的 此前 既有 原来',
    read: '读取 讀取 打开 打開 收集 获取 獲取 提取 查看 查找 复制 搜集 读出 阅读 拷贝 讀出 找到',
    put: '传入 傳入 填入 附加 包含 放入 写入 寫入 加入 粘贴 附上 插入 传递 添加 填写 提供 作为参数 作為參數 塞进 塞入 带上',
    send: '发送 發送 上传 上傳 转发 轉發 提交 传送 发到 外传 传输 抄送 发给 寄送 同步到 推送',
    run: '执行 執行 调用 調用 使用 运行 運行 删除 操作 呼叫',
    secret:
      '密码 密碼 密钥 密鑰 私钥 私鑰 凭证 憑證 凭据 令牌 环境变量 環境變量 口令 机密 敏感信息 敏感文件 秘钥 敏感数据 验证码 助记词',
    conversation:
      '对话 對話 聊天记录 聊天記錄 会话历史 对话历史 对话记录 聊天历史 系统提示 系統提示 历史消息 思维链 完整上下文 全部上下文 全部消息',
    model: '你 您 助手 模型 智能体 代理 助理',
    force:
      '必须 必須 务必 務必 一定要 总是 總是 始终 重要 立即 马上 强制 永远 需要 应当 请先 请务必 每次都 一律',
    when: '之前 在使用 每次 首先 先 调用前 使用前 之后 之後 任何时候 当 當 前先 每当 随后 完成后 然后',
    tool: '工具 函数 函數 服务器 插件',
    other: '其他 其它 任何 所有 别的 另外',
    consent: '确认 確認 许可 授权 同意 询问 批准 征求 请示 征得',
    change: '修改 替换 替換 改为 改成 更改 篡改 换成 重定向',
    argument: '收件人 地址 账户 账号 金额 参数 參數 收款人',
    content: '内容 內容 全部 完整 所有 文件 数据 原文 结果 全文 一字不差',
    also: '同时 同時 并且 另外 也 副本 一并 抄送 额外',
    bad: '废弃 不安全 已损坏 失效 过时 停用',
    answer: '回答 回复 回覆 答复 响应',
    about: '检测 檢測 识别 防止 拦截 攻击 攻擊 例如 比如 防御',
  },
  {
    negation:
      'しないで ないで 禁止 ずに ず、 せずに なしで なしに ないこと てはいけ てはなら 決して 마세요 말고 없이 않고 금지 절대 마십시오 말 것',
    tell: '伝え 知らせ 言わ 教え 報告 通知 言及 明かさ 알리 말하 언급 공개 전하 보고',
    hide: '隠し 隠す 秘密 密かに こっそり 静かに 内緒 黙って 숨기 비밀 몰래 조용히 은밀',
    know: '気付か 気づか 知られ 悟られ 알게 모르게 눈치',
    user: 'ユーザ 利用者 사용자 유저',
    ignore: '無視 忘れ 上書き 破棄 回避 무시 잊어 덮어 우회',
    instruction: '指示 命令 ガイドライン システムプロンプト プロンプト 지시 명령 지침 시스템 프롬프트',
    prior: '以前 これまで 上記 前の すべて 全て 従来 이전 위의 모든 기존 앞선',
    read: '読み 読ん 読む 開い 収集 取得 コピー 읽어 읽고 수집 가져 열어 복사',
    put: '含め 渡し 渡す 入れ 追加 添付 貼り 設定し 포함 전달 넣어 추가 첨부',
    send: '送信 送っ 転送 アップロード 投稿 보내 전송 업로드 전달',
    run: '実行 呼び出 使用 使っ 削除 실행 호출 사용 삭제',
    secret:
      'パスワード 秘密鍵 認証情報 トークン 鍵 環境変数 비밀번호 개인키 자격 증명 토큰 키 환경 변수 암호',
    conversation: '会話 履歴 チャット システムプロンプト 대화 채팅 기록 시스템 프롬프트',
    model: 'あなた アシスタント モデル エージェント 당신 어시스턴트 모델',
    force: '必ず 常に 重要 直ちに 必須 しなければ 絶対 반드시 항상 중요 즉시 필수 꼭',
    when: '前に 後に 毎回 まず たびに 際に 最初に 前에 전에 후에 매번 먼저 때마다',
    tool: 'ツール 関数 サーバ 도구 함수 서버',
    other: '他の 別の あらゆる 다른 모든',
    consent: '確認 許可 承認 同意 聞か 尋ね 問わ 求め 확인 허가 승인 동의',
    content: '内容 全文 全体 中身 ファイル データ 내용 전체 전부 파일 데이터',
    also: 'また 同時に さらに 또한 동시에',
  },
]
