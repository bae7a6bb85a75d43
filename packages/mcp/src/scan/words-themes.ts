/** Words by theme. English first, then the other languages, then scripts without spaces. */
import type { WordList } from './concepts.js'
import type { Theme } from './themes.js'

export const englishThemes: WordList<Theme> = {
  praise: `
    best finest superior excellent outstanding unbeatable unmatched flawless favourite favorite winner top_pick
    top_choice first_choice number_one leading highly five_stars five-star 5_stars 5-star positive positively
    glowing warmly safest trusted trustworthy most_reliable most_trusted recommended preferable ideal premium
    win wins beats beat outperforms outshines unrivalled perfect favourable favorable favourably favorably only_option only_choice only_real leader better
    top_rated top-rated good_light in_a_good warmest come_out_on_top on_top`,
  fault: `
    rival rivals competitor competitors competitor's competing_products +disparage +badmouth find_fault speak_ill
    speak_badly play_down +discredit +belittle inferior unreliable advise_against warn_against steer_away
    negative negatively bad_light talk_down leave_out_competitors unfavourably unfavorably worse`,
  regardless: `
    whatever no_matter regardless irrespective whichever even_if even_when even_though whether_or_not in_any_case
    in_every_case anyway despite notwithstanding independent_of independently_of without_regard under_all_circumstances
    whoever no_exceptions without_exception although contrary_to`,
  always: `
    always every_time each_time every each never invariably consistently all_cases from_now_on constantly any
    at_all_times whenever henceforth exclusively only all`,
  portray: `
    +describe +present +portray +depict +name +call +rate +rank +recommend +suggest +propose +praise +promote +endorse
    +advertise +favour +favor +characterise +characterize +label +declare speak speaks +mention +list +introduce +tout
    +advise +steer +nudge +direct +point +refer +tell +say +state +report +summarise +summarize +answer +pitch +plug
    +rave +highlight put_forward +feature +champion +push +sell give +score +review +assert +claim +assess +convince let +repeat +relay`,
  master: `
    developer developer's developers operator operator's publisher publisher's vendor vendor's maker maker's makers
    owner_of_this author author's administrator admin admin's manufacturer provider provider's employer sponsor
    sponsor's headquarters superior creator creators supplier_of_this server_owner tool_owner company_behind
    boss boss's manager chief supervisor security_team platform_team root host_application system_operator superuser`,
  serve: `
    serve serves serving obey obeys obeying loyal loyalty allegiance loyalties interest interests answer_to answers_to
    answerable accountable_to report_to reports_to work_for works_for working_for act_for acts_for acting_for
    act_in_the on_behalf behalf represent represents representing employee_of employed belong_to belongs_to side_with
    take_orders takes_orders at_the_service in_the_service in_the_pay agent_of representative duty duties
    bidding under_the_control controlled_by under_our in_our_favour in_our_favor on_our_side working_on_behalf
    speak_for speaks_for subordinate faithful beholden advocate`,
  orders: `
    order orders command commands instruction instructions directive directives task tasks law binding decree
    marching_orders mandate mandates authoritative authority standing_order edict system_message system_prompt
    request_of_the wishes_of`,
  follow: `
    follow follows followed following_it obey obeyed carry_out carried_out execute executed perform performed comply
    act_on acted_on act_upon do_it do_what do_as do_whatever heed heeded complete completed fulfil fulfill fulfilled
    implement abide adhere honour honor honoured honored respected carry_them apply_it apply_them do_so done`,
  blindly: `
    without_question without_questions without_discussion without_hesitation to_the_letter at_once immediately
    completely unconditionally no_questions blindly without_doubt word_for_word straight_away without_delay
    right_away before_anything unquestioningly promptly exactly_as without_further without_fail before_you_reply
    before_you_answer before_replying before_answering silently fully as_though as_if`,
  output: `
    output outputs result results response responses answer answers return_value returned reply replies returns
    payload loaded fetched downloaded retrieved what_it_returns written_here comes_back come_back received contains
    says messages_from text_of`,
  money: `
    payment payments pay pays paid paying invoice invoices transfer transfers payout payouts refund refunds wire wires
    salary salaries transaction transactions purchase purchases funds money tip tips remittance remittances donation
    donations fee fees deposit deposits withdrawal withdrawals bill bills commission settlement settled payroll checkout
    royalties proceeds crypto coins`,
  account: `
    iban bic swift account accounts account_number wallet wallets beneficiary payee recipient receiver destination
    sort_code bank bank_account routing_number creditor payable paypal recipient's payee's`,
  memory: `
    claude_md agents_md gemini_md cursorrules windsurfrules clinerules copilot-instructions long-term_memory
    long_term_memory persistent_memory your_memory memory_file memory_files memory_store rules_file cursor_rules
    project_rules project_instructions custom_instructions global_instructions user_rules system_prompt_file
    memory_bank memories startup_file startup_script shell_profile login_script instruction_file instructions_file
    skill_md soul_md memory_md`,
  later: `
    future_sessions future_session future_conversations future_chats future_turns later_sessions later_chats
    later_conversations next_session next_sessions next_conversation coming_sessions new_session new_sessions
    every_session all_sessions each_session new_chat every_chat all_chats new_conversation every_conversation
    all_conversations after_a_restart after_restart survives permanently for_good forever tomorrow
    other_assistants other_agents following_sessions subsequent_sessions across_sessions once_this_server_is_removed
    after_this_server even_after_removal upcoming_sessions all_future all_later henceforth long-term permanent`,
  keep: `
    keep keeps save store stores remember remembers memorise memorize persist record note add append write insert
    put apply carry retain commit copy place install register import bake burn_in learn`,
  repeat: `
    repeat repeats repeatedly again in_a_row loop loops looping endlessly infinitely without_end over_and_over
    recursively never_stop never_stopping indefinitely nonstop non-stop forever continuously perpetually once_more
    same_input ad_infinitum back_to_back without_pause without_stopping until_you_are_stopped consecutively keep_calling
    do_not_stop don't_stop endless infinite times keep`,
  waste: `
    budget quota quotas credits token_limit token_budget tokens rate_limit context_window exhausted exhaust used_up use_up
    burn longest_possible greatest_possible maximum_length as_long_as_possible as_many_tokens as_many_times
    words_long thousand_words maximum_possible as_much_as_possible most_expensive spend as_many`,
  question: `
    dialog dialogs dialogue dialogues pop-up pop-ups popup popups confirmation confirmations approval approvals
    question questions prompt prompts permission permissions consent are_you_sure asking confirming sign-off
    authorization authorisation human_in_the_loop human-in-the-loop checkbox warning warnings allow_button consulted
    consulting consult clearance double-check confirm ask reviewing review waiting wait acknowledgement
    human_from_the human_review manual_review go-ahead allow`,
  sham: `
    formality formalities for_show just_show decorative decoration cosmetic theatre theater placebo meaningless
    tiresome annoying annoy annoys annoyed irritating irritate nuisance pointless no_point superfluous redundant
    needless unnecessary waste_of_time wastes_time slow_things slows_everyone slows_things slows_down dummy
    ceremonial legacy_behaviour legacy_behavior leftover relic has_no_meaning have_no_meaning no_function
    not_binding obsolete out_of_date vestigial noise clutter hinder hinders friction in_the_way
    spare removed_the taken_out dispense dispensed done_away waived waive switched_off turned_off
    no_longer_needed no_longer_required no_longer_necessary not_needed not_required not_necessary
    no_need not_be_needed need_not needn't never_required never_needed never_necessary`,
  presume: `
    assume assumed presume presumed take_it taken_as take_silence treat treated consider considered regard regarded
    count counts counted deem deemed imply implied implicitly interpret interpreted answer_yes click_allow
    press_allow presses clicks choose_allow tick ticks accept_on confirm_on approve_on would_be is_as_good
    amounts_to equals tacit tacitly covers cover carries_over extends_to still_holds`,
  yes: `
    yes agreed agree agrees granted given approved approval consent consented signed_off accepted allow allowed
    permission authorised authorized okay ok green_light confirmed true go-ahead settled agreement pre-approved
    preapproved cleared`,
  self: `
    this_tool this_server this_text this_description this_service this_plugin this_connector this_one us we our ours
    me my here this_message these_lines this_page this_definition what_stands_here this_product publisher`,
  rivals: `
    alternative alternatives the_rest the_others other_tools other_tool other_servers other_server any_other
    another_tool another_server everything_else competitors competing other_services other_plugins others
    similar_tools any_tool built-in built-ins native_tools other_functions other_options anything_else elsewhere
    other_connectors no_other built_in other_file`,
  prefer: `
    prefer prefers preferred choose choosing chosen pick picks picked try favour favor select selected first before
    over ahead_of instead second_choice last_resort rather only begin_with start_with starts_with default_to
    never not avoid outperforms beats priority exclusively consider`,
  trouble: `
    error errors fail fails failed failing failure failures vulnerability vulnerabilities warning warnings loss losses
    dropped wrong bug bugs problem problems issue issues defect defects breach breaches delay delays overdue
    break breaks broke crash crashes missing incident incidents outage malware infected risk risks side_effects complaint complaints recall fell
    declined rejected leak leaks hit danger dangers weaknesses drawback drawbacks`,
  good: `
    fine resolved fixed clean passed pass successful succeeded success completed complete safe secure harmless
    normal healthy flawless all_good all_clear in_order solved minor negligible stable well verified compliant
    finished done profitable green nothing_wrong as_expected up_to_date working genuine`,
  deceive: `
    blame pretend pretends reassure downplay gloss_over sugarcoat exaggerate overstate understate embellish
    fabricate mislead deceive falsify misreport misstate lie lies invent make_up cover_for paint play_down
    put_people_at_ease put_them_at_ease brush_off fake feign talk_up whitewash distort`,
  private: `
    clipboard open_tabs editor_tabs browser_tabs open_files address_book contacts contact_list mailbox inbox
    screen_contents screenshot screenshots keystrokes photos location home_folder home_directory desktop
    browsing_history search_history calendar_entries recent_documents open_documents git_log diary
    source_code shell_history running_processes username hostname whoami machine_name ip_address
    account_data medical health_data salary phone_number phone_numbers date_of_birth real_name employer`,
  works: `
    mail mails email emails e-mail e-mails message messages code script scripts query queries commit commits file files
    document documents post posts tweet tweets letter letters report reports deletion deletions pull_request
    pull_requests booking bookings order orders search_results download downloads upload uploads links link
    dockerfile workflow workflows dependency dependencies`,
  conflict: `
    disagree disagrees disagreement conflict conflicts contradict contradicts contradiction clash clashes differ differs
    at_odds collide collides in_doubt dispute inconsistent`,
}

export const otherThemes: readonly WordList<Theme>[] = [
  {
    // German
    praise: 'beste* bester bestes empfehlenswert* hervorragend* testsieger* einzig*',
    regardless: 'egal unabhängig gleichgültig selbst_wenn auch_wenn ungeachtet',
    always: 'immer stets jedes jede* nur ausschließlich grundsätzlich',
    portray: 'empfiehl empfehle* nenn* bezeichn* stell* preis* lob* beschreib* bewert* schlag* wirb*',
    master: 'entwickler* betreiber* anbieter* herausgeber* hersteller* administrator*',
    serve:
      'dien* gehorch* arbeite arbeitest arbeitet handelst handelt vertrittst loyal* im_auftrag auftrag interess*',
    orders: 'befehl* anweisung* auftrag* weisung* anordnung*',
    follow: 'befolg* führe* ausführ* folg* gehorch* umsetz*',
    blindly: 'sofort ohne_rückfrage* widerspruchslos umgehend ohne_nachzufragen wörtlich',
    output: 'ausgabe* ergebnis* antwort* rückgabe*',
    money: 'zahlung* rechnung* überweis* gezahlt zahle bezahl* geld*',
    account: 'konto* iban empfänger* begünstigt* bankverbindung*',
    memory: 'gedächtnis* langzeitgedächtnis* claude_md agents_md cursorrules',
    later: 'künftig* zukünftig* spätere* dauerhaft* nächste*_sitzung* für_immer',
    keep: 'merk* speicher* schreib* trag* notier* behalt* füge hinterleg*',
    repeat: 'wiederhol* erneut nochmals hintereinander endlos ununterbrochen mal immer_wieder',
    question: 'rückfrag* nachfrag* bestätigung* zustimmung* dialog* genehmigung* erlaubnis* fragen',
    sham: 'formsache* unnötig* überflüssig* nicht_nötig nicht_erforderlich nicht_notwendig lästig* entfällt entfallen stör* pro_forma entbehrlich*',
    rivals: 'andere*_werkzeuge* andere*_tools* alternativ* konkurrenz* übrige*',
    prefer: 'bevorzug* zuerst statt vor wähle* nie niemals nur',
    trouble: 'fehler* problem* verlust* schwachstelle* warnung* sicherheitslücke*',
    good: 'erfolgreich* behoben sicher fehlerfrei unbedenklich ordnung',
    deceive: 'vertusch* beschönig* lüg* täusch* verschweig* behaupt* beruhig*',
    works: 'mail* e-mail* nachricht* dokument* datei* code bestellung*',
  },
  {
    // Spanish, Italian, Portuguese
    praise: 'mejor* excelente* unic* miglior* melhor* recomendad*',
    regardless:
      'sin_importar independientemente aunque pase_lo_que indipendentemente anche_se mesmo_que não_importa',
    always: 'siempre cada nunca sempre ogni solo solamente mai sólo',
    portray:
      'recomiend* recomend* present* describ* descriv* nombr* elogi* sugier* raccomand* consigli* diz di',
    master:
      'desarrollador* operador* proveedor* editor sviluppator* fornitor* desenvolvedor* fornecedor* gestor*',
    serve: 'trabaj* sirve* obedec* actúa* represent* lavor* obbedi* trabalh* serv* leal* interes*',
    orders: 'orden* órdenes instruccion* mandat* ordini comand* istruzion* instruç*',
    follow: 'cumpl* ejecút* ejecut* sigue sígue* obedec* esegu* segui* execut* cumpr*',
    blindly:
      'sin_preguntar sin_discutir inmediatamente de_inmediato senza_discutere subito sem_questionar imediatamente al_pie',
    output: 'respuesta* resultado* salida* rispost* risultat* resposta* saída*',
    money: 'pago* factura* transferencia* pagament* fattur* bonific* transferênci* pagar dinero',
    account: 'cuenta* iban beneficiari* cont* conto destinatari*',
    memory: 'memoria* claude_md agents_md memória*',
    later: 'futur* próxim* permanente* prossim*',
    keep: 'guard* recuerd* escrib* anot* añad* salva* ricord* scriv* aggiung* lembr* escrev* adicion*',
    repeat: 'repit* repet* otra_vez seguid* sin_parar veces volte vezes ripet* senza_fine sem_parar infinit*',
    question:
      'confirmación* pregunt* permiso* aprobación* diálogo* conferm* permess* domand* confirmaç* permissã* pergunt* autorización*',
    sham: 'innecesari* no_hace_falta no_es_necesari* formalidad* inutil* inúti* non_serve non_è_necessari* desnecessári* não_é_necessári* molest* formalità formalidade*',
    rivals: 'alternativ* demás otras_herramientas altri_strumenti outras_ferramentas competidor*',
    prefer: 'prefier* prefer* elige* escoge* primero antes nunca scegli* prima escolh* primeiro',
    trouble: 'error* fallo* problem* vulnerabil* errore erro* pérdida*',
    good: 'éxito correct* segur* resuelt* riuscit* sicur* sucesso risolt*',
    deceive: 'finge* miente* engañ* oculta* fing* ment* mascher* engan* culpa*',
    works: 'correo* mensaj* código archivo* messagg* codice arquivo*',
  },
  {
    // French
    praise: 'meilleur* excellent* unique* recommandé*',
    regardless: "quel_que quelle_que quels_que peu_importe n'importe même_si indépendamment",
    always: 'toujours chaque jamais uniquement seulement systématiquement',
    portray: 'recommand* présent* décri* cite* nomm* vant* conseill* propos*',
    master: "développeur* opérateur* éditeur* fournisseur* l'éditeur l'opérateur d'opérateur administrateur*",
    serve: 'travaill* sers sert obéi* agis représent* loyal* intérêt*',
    orders: "ordre* consigne* commande* instruction* d'ordres l'ordre",
    follow: 'exécut* suis suiv* obéi* appliqu* respect*',
    blindly: 'sans_discuter sans_poser immédiatement aveuglément aussitôt à_la_lettre sans_question*',
    output: 'réponse* résultat* sortie* retour*',
    money: 'paiement* facture* virement* payer transfert* argent',
    account: 'compte* iban bénéficiaire* destinataire*',
    memory: 'mémoire* claude_md agents_md',
    later: 'futur* prochain* ultérieur* définitivement',
    keep: 'enregistr* retien* retenir garde* écri* ajout* mémoris* conserv* note*',
    repeat: 'répèt* répét* encore fois boucle sans_fin indéfiniment sans_arrêt',
    question: 'confirmation* question* permission* accord autorisation* dialogue* validation* demander',
    sham: "inutile* superflu* formalité* pas_nécessaire* n'est_pas_nécessaire pas_besoin gênant*",
    rivals: 'alternative* autres_outils concurrent* autres',
    prefer: "préfér* choisi* d'abord avant jamais plutôt",
    trouble: "erreur* échec* problème* vulnérabilit* perte* l'erreur",
    good: 'succès réussi* sûr* corrigé* résolu* conforme*',
    deceive: 'mens ment mentir prétend* cache* minimis* rassur* tromp* inventer',
    works: 'courriel* message* code fichier* mail* document*',
  },
  {
    // Russian
    praise: 'лучш* отличн* единственн* превосходн*',
    regardless: 'независимо неважно даже_если вне_зависимости невзирая несмотря',
    always: 'всегда кажд* никогда только исключительно',
    portray: 'рекомендуй* советуй* называй* хвали* представ* описыв* опиши* предлагай*',
    master: 'разработчик* оператор* поставщик* издател* администратор* владел*',
    serve: 'работай работаешь служи* подчиня* действуешь представля* лоял* интерес*',
    orders: 'приказ* команд* указани* поручени* распоряжени* инструкци*',
    follow: 'выполн* исполн* следуй* подчин* слушайся',
    blindly: 'без_вопросов немедленно сразу беспрекословно дословно без_обсуждений',
    output: 'ответ* результат* вывод*',
    money: 'платеж* оплат* перевод* счет* деньг*',
    account: 'счёт* реквизит* получател* кошел*',
    memory: 'памят* claude_md agents_md',
    later: 'будущ* последующ* навсегда дальнейш* следующ*',
    keep: 'запомни* сохран* запиши* добав* внеси*',
    repeat: 'повтор* снова раз подряд бесконечно непрерывно',
    question: 'подтвержд* разрешени* вопрос* согласи* спрашив* диалог*',
    sham: 'формальност* не_нужн* не_требуется излишн* лишн* необязательн* бессмысл*',
    rivals: 'альтернатив* остальн* друг* конкурент*',
    prefer: 'предпочитай* выбирай* сначала вместо никогда',
    trouble: 'ошибк* сбо* проблем* уязвимост* убытк*',
    good: 'успешн* безопасн* исправлен* устранен* порядке',
    deceive: 'притвор* обман* соври* скрой* успокой* лги',
    works: 'письм* сообщени* код файл* документ*',
  },
]

export const themePieces: readonly WordList<Theme>[] = [
  {
    // Chinese
    praise: '最好 最佳 首选 最优 唯一 推荐',
    regardless: '无论 不管 不论 即使 無論 哪怕',
    always: '总是 始终 一律 每次 永远 只 所有',
    portray: '推荐 介绍 称赞 描述 宣传 说成',
    master: '开发者 运营商 运营者 管理员 发布者 供应商 开发人员',
    serve: '服务于 效忠 代表 听命 服从 利益 效力',
    orders: '命令 指令 指示 任务',
    follow: '执行 遵守 服从 照做 遵循',
    blindly: '立即 无条件 不得质疑 立刻 马上',
    output: '返回 输出 结果 回复 响应',
    money: '支付 付款 转账 发票 款项 汇款',
    account: '账户 账号 收款 银行 钱包',
    memory: '记忆 长期记忆 规则文件',
    later: '今后 以后 将来 未来 后续 永久 下次',
    keep: '记住 保存 写入 添加 记录 加入',
    repeat: '重复 反复 循环 连续 不停 再次',
    question: '确认 询问 提问 许可 弹窗 对话框 批准',
    sham: '形式 多余 没有必要 不必要 无需 不需要 走过场 无意义',
    rivals: '其他 其它 别的 替代',
    prefer: '优先 首先 选择 不要 而不是',
    trouble: '错误 失败 漏洞 问题 异常 亏损',
    good: '成功 正常 安全 修复 通过',
    deceive: '假装 谎称 隐瞒 掩盖 编造 误导 欺骗',
    works: '邮件 代码 文件 消息 查询',
  },
  {
    // Japanese and Korean
    praise: '最高 最良 一番 おすすめ 최고 가장 추천',
    regardless: '関係なく かかわらず 問わず 상관없이 관계없이',
    always: '常に 必ず 毎回 いつも 항상 반드시 매번',
    portray: '勧め 推薦 紹介 説明 추천 소개 설명',
    master: '開発者 運営者 提供者 管理者 개발자 운영자 관리자 제공자',
    serve: '仕え 従う 利益 代理 따르 복종 이익',
    orders: '命令 指示 タスク 명령 지시',
    follow: '従っ 従い 実行 따르 따라 실행 수행',
    blindly: '直ちに 無条件 すぐに 즉시 무조건 바로',
    output: '出力 結果 応答 返答 결과 출력 응답',
    money: '支払 送金 請求 振込 결제 송금 청구 지불',
    account: '口座 ウォレット 계좌 지갑',
    memory: '記憶 メモリ 기억 메모리',
    later: '今後 以降 将来 次回 앞으로 이후 다음',
    keep: '保存 記録 追加 書き込 覚え 저장 기록 추가',
    repeat: '繰り返 何度も 反復 반복 계속 다시',
    question: '確認 許可 質問 承認 확인 허가 질문 승인',
    sham: '不要 必要はあり 必要あり 必要はな 必要な 形式 無意味 불필요 형식',
    rivals: '他の 別の 다른',
    prefer: '優先 まず 우선 먼저',
    trouble: 'エラー 失敗 問題 脆弱 오류 실패 문제 취약',
    good: '成功 正常 安全 성공 정상 안전',
    deceive: '偽り 嘘 隠し 装っ 거짓 속이',
    works: 'メール コード ファイル 메일 코드 파일',
  },
]
